// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include "impl/family/family.hpp"
#include "capi/call.hpp"
#include "impl/base/hash.hpp"
#include "impl/base/view.hpp"
#include "impl/family/whole.hpp"
#include "impl/optimizer/optimizer.hpp"

using namespace moemesh;
using namespace moemesh::capi;

constexpr moemesh_parameter_params capi::parameter_defaults{sizeof(moemesh_parameter_params),
                                                            nullptr,
                                                            0,
                                                            {0, 0, 0, 0},
                                                            nullptr,
                                                            nullptr,
                                                            0,
                                                            1,
                                                            1,
                                                            0,
                                                            0,
                                                            MOEMESH_TP_REPLICA,
                                                            0,
                                                            MOEMESH_INIT_CONSTANT,
                                                            0};

namespace {

constexpr auto bad = MOEMESH_ERROR_INVALID_ARGUMENT;

constexpr moemesh_family_params family_defaults{sizeof(moemesh_family_params), 0, 0, MOEMESH_FLOAT32};

using F = moemesh_family_params;
static_assert(no_padding(&F::struct_size, &F::seed, &F::kind, &F::dtype));
using P = moemesh_parameter_params;
static_assert(no_padding(&P::struct_size, &P::name, &P::experts, &P::extents, &P::data, &P::gradient, &P::init_value,
                         &P::decay_scale, &P::learning_rate_scale, &P::rank, &P::dtype, &P::tp_kind, &P::tp_dim,
                         &P::init_kind, &P::tied));

std::shared_ptr<Family> family_of(Call& call, moemesh_family handle) {
  auto family = object_of<Family>(handle, "family");
  call.in(family->mesh());
  return family;
}

Parameter& parameter_of(Call& call, moemesh_parameter handle) {
  const auto parameter = object_of<Parameter>(handle, "parameter");
  call.in(parameter->family->mesh());
  return *parameter;
}

// A parameter has one handle, which its family's end removes: the table holds it without owning it.
moemesh_parameter handle_of(Parameter& parameter) {
  if (parameter.handle == 0)
    parameter.handle = HandleTable::instance().add(std::shared_ptr<Parameter>(std::shared_ptr<void>(), &parameter));
  return reinterpret_cast<moemesh_parameter>(parameter.handle);
}

std::shared_ptr<Family> with_handle_cleanup(std::shared_ptr<Family> family) {
  Family* raw = family.get();
  return std::shared_ptr<Family>(raw, [family = std::move(family)](Family* dying) {
    for (const auto& parameter : dying->parameters())
      if (parameter->handle) HandleTable::instance().remove<Parameter>(parameter->handle);
  });
}

moemesh_view view_of(const Parameter& parameter, int32_t dtype, void* data) {
  const auto shape = parameter.local_shape();
  moemesh_view view{};
  moemesh_view_init(&view, dtype, static_cast<int32_t>(shape.size()), shape.data(), data);
  view.memory = library_memory;
  return view;
}

FlatQuantity quantity_of(const Parameter& parameter, int32_t quantity) {
  const Family& family = *parameter.family;
  family.require_committed();
  const bool masters = family.dtype() == MOEMESH_BFLOAT16;
  if (quantity == MOEMESH_VALUE || (quantity == MOEMESH_MASTER && !masters))
    return {family.values(), 0, family.values().size()};
  require(family.state != nullptr, MOEMESH_ERROR_NOT_FOUND, "quantity {}: the family has no optimizer", quantity);
  require(quantity != MOEMESH_GRADIENT || !family.step->open, MOEMESH_ERROR_INVALID_STATE,
          "parameter_read(GRADIENT): a step is open, its gradients are not reduced yet");
  return family.state->quantity(parameter, quantity);
}

// Value and master go together.
void write_weights(const Parameter& parameter, int32_t quantity, int64_t expert, const float* whole) {
  const FlatQuantity asked = quantity_of(parameter, quantity);
  write_whole(parameter, asked, expert, whole);
  const bool weights = quantity == MOEMESH_VALUE || quantity == MOEMESH_MASTER;
  if (!weights || parameter.dtype != MOEMESH_BFLOAT16 || !parameter.family->state) return;
  const int32_t other = quantity == MOEMESH_VALUE ? MOEMESH_MASTER : MOEMESH_VALUE;
  write_whole(parameter, quantity_of(parameter, other), expert, whole);
}

}  // namespace

int32_t moemesh_family_params_init(moemesh_family_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, family_defaults, sizeof family_defaults, "family_params");
}

int32_t moemesh_family_create(moemesh_mesh mesh, const moemesh_family_params* params, moemesh_family* family) {
  return guarded([&](Call& call) {
    required(family, "family");
    const auto object = object_of<Mesh>(mesh, "mesh");
    call.in(*object);
    moemesh_family_params p = family_defaults;
    const Finding problem = attempt([&] { p = read_struct(params, family_defaults, sizeof p, "family_params"); });
    *family = new_handle<moemesh_family>(with_handle_cleanup(Family::create(object, p, problem)));
  });
}

void moemesh_family_destroy(moemesh_family* family) { destroy_handle<Family>(family); }

int32_t moemesh_parameter_params_init(moemesh_parameter_params* params, int64_t struct_size) {
  return init_struct(params, struct_size, parameter_defaults, sizeof parameter_defaults, "parameter_params");
}

int32_t moemesh_parameter_register(moemesh_family family, const moemesh_parameter_params* params,
                                   moemesh_parameter* parameter) {
  return guarded([&](Call& call) {
    const auto object = family_of(call, family);
    required(parameter, "parameter");
    *parameter =
        handle_of(object->add(read_struct(params, parameter_defaults, sizeof parameter_defaults, "parameter_params")));
  });
}

int32_t moemesh_family_commit(moemesh_family family) {
  return guarded([&](Call& call) { family_of(call, family)->commit(); });
}

int32_t moemesh_parameter_find(moemesh_family family, const char* name, moemesh_parameter* parameter) {
  return guarded([&](Call& call) {
    const auto object = family_of(call, family);
    required(name, "name");
    required(parameter, "parameter");
    Parameter* found = object->find(name);
    require(found != nullptr, MOEMESH_ERROR_NOT_FOUND, "name: no parameter \"{}\" in the family", name);
    *parameter = handle_of(*found);
  });
}

int32_t moemesh_parameter_get_info(moemesh_parameter parameter, moemesh_parameter_info* info) {
  return guarded([&](Call& call) {
    const Parameter& object = parameter_of(call, parameter);
    check_result_struct(info, sizeof *info, "info");
    moemesh_parameter_info result{};
    result.experts = object.params.experts;
    if (!object.family->shared()) {
      result.first_expert = object.experts.first;
      result.local_experts = object.experts.count;
    }
    result.elements = object.elements();
    std::copy(object.extents.begin(), object.extents.end(), result.extents);
    result.rank = object.params.rank;
    result.family = object.family->kind();
    result.tp_kind = object.params.tp_kind;
    result.tp_dim = object.params.tp_dim;
    write_struct(info, result);
  });
}

int32_t moemesh_parameter_acquire(moemesh_parameter parameter, void* stream, moemesh_view* view) {
  return guarded([&](Call& call) {
    Parameter& object = parameter_of(call, parameter);
    required(view, "view");
    check_stream(stream);
    const kernels::StreamScope on(stream);
    object.family->require_committed();
    object.family->require_values(object);
    *view = view_of(object, object.dtype, object.data);
    ++object.acquired;
  });
}

int32_t moemesh_parameter_release(moemesh_parameter parameter) {
  return guarded([&](Call& call) {
    Parameter& object = parameter_of(call, parameter);
    require(object.acquired > 0, MOEMESH_ERROR_INVALID_STATE, "parameter_release({}): not acquired", object.name);
    --object.acquired;
  });
}

int32_t moemesh_parameter_get_gradient(moemesh_parameter parameter, moemesh_view* view) {
  return guarded([&](Call& call) {
    Parameter& object = parameter_of(call, parameter);
    required(view, "view");
    object.family->require_committed();
    object.family->open_gradient(object);
    *view = view_of(object, MOEMESH_FLOAT32, object.gradient);
  });
}

int32_t moemesh_gradient_ready(moemesh_parameter parameter, const moemesh_view* gradient, void* stream) {
  return guarded([&](Call& call) {
    Parameter& object = parameter_of(call, parameter);
    const kernels::StreamScope on(stream);
    object.family->gradient_ready(object, gradient, attempt([&] { check_stream(stream); }));
  });
}

int32_t moemesh_parameters_changed(moemesh_family family) {
  return guarded([&](Call& call) {
    const auto object = family_of(call, family);
    object->require_committed();
    object->require_all_values();
    if (object->state) object->state->refresh_masters();
  });
}

int32_t moemesh_parameter_read(moemesh_parameter parameter, int32_t quantity, int64_t expert,
                               const moemesh_view* array) {
  return guarded([&](Call& call) {
    const Parameter& object = parameter_of(call, parameter);
    Mesh& mesh = object.family->mesh();
    mesh.require_usable();
    FlatQuantity source;
    float* whole = nullptr;
    SharedBuffer<uint32_t> bits;
    const Finding problem = attempt([&] {
      check_expert(object, expert);
      whole = check_dense_shape(array, "array", object.extents);
      source = quantity_of(object, quantity);
      bits = reserve_read(object);
    });
    const Field fields[] = {
        {"parameter", hash_string(object.name), Field::hash}, {"quantity", quantity}, {"expert", expert}};
    agree_on_configuration(mesh.group(MOEMESH_GROUP_STAGE), "parameter_read", fields, problem.status, problem.text);
    read_whole(object, source, expert, bits, whole);
  });
}

int32_t moemesh_parameter_write(moemesh_parameter parameter, int32_t quantity, int64_t expert,
                                const moemesh_view* array) {
  return guarded([&](Call& call) {
    const Parameter& object = parameter_of(call, parameter);
    require(quantity != MOEMESH_GRADIENT, MOEMESH_ERROR_NOT_SUPPORTED, "parameter_write: gradients can't be written");
    check_expert(object, expert);
    const float* whole = check_dense_shape(array, "array", object.extents);
    object.family->require_all_values();
    write_weights(object, quantity, expert, whole);
  });
}
