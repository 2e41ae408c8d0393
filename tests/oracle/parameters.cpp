// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

#include "step.hpp"

namespace oracle {
namespace {

void append(std::vector<NamedArray>* list, const std::string& name, Family family, std::int64_t expert, Array* values) {
  if (!values->empty()) list->push_back({name, family, expert, values});
}

void append_experts(std::vector<NamedArray>* list, const std::string& name, std::vector<Array>* matrices) {
  for (std::size_t e = 0; e < matrices->size(); ++e) {
    append(list, name, Family::expert, static_cast<std::int64_t>(e), &(*matrices)[e]);
  }
}

void append_layer(std::vector<NamedArray>* list, const std::string& name, LayerWeights* weights) {
  append(list, name + ".router", Family::shared, 0, &weights->router);
  append(list, name + ".shared.w1", Family::shared, 0, &weights->shared_w1);
  append(list, name + ".shared.wg", Family::shared, 0, &weights->shared_wg);
  append(list, name + ".shared.w2", Family::shared, 0, &weights->shared_w2);
  append_experts(list, name + ".w1", &weights->w1);
  append_experts(list, name + ".wg", &weights->wg);
  append_experts(list, name + ".w2", &weights->w2);
}

}  // namespace

Parameters zero_parameters(const Model& model) {
  Parameters parameters;
  for (const LayerConfig& config : model.layers) parameters.layers.push_back(zero_weights(config));
  parameters.shared.resize(model.shared_names.size());
  return parameters;
}

Parameters zeros_like(const Parameters& parameters) {
  Parameters zeros = parameters;
  const auto clear = [](Array* array) { array->assign(array->size(), 0.0); };
  const auto clear_all = [&](std::vector<Array>* arrays) {
    for (Array& array : *arrays) clear(&array);
  };
  for (LayerWeights& layer : zeros.layers) {
    for (Array* array : {&layer.router, &layer.shared_w1, &layer.shared_wg, &layer.shared_w2}) clear(array);
    for (auto* arrays : {&layer.w1, &layer.wg, &layer.w2}) clear_all(arrays);
  }
  clear_all(&zeros.shared);
  return zeros;
}

std::vector<NamedArray> named_arrays(const Model& model, Parameters& parameters) {
  std::vector<NamedArray> list;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    append_layer(&list, model.layers[l].name, &parameters.layers.at(l));
  }
  for (std::size_t s = 0; s < model.shared_names.size(); ++s) {
    append(&list, model.shared_names[s], Family::shared, 0, &parameters.shared.at(s));
  }
  return list;
}

}  // namespace oracle
