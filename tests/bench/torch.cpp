// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
#include <sys/wait.h>
#include <unistd.h>

#include "layer_bench.hpp"

namespace bench {
namespace {

void replace(int number, int by) {
  dup2(by, number);
  close(by);
}

}  // namespace

Torch::Torch(const std::string& python, const std::string& script, const Shape& shape) {
  int down[2], up[2];
  if (pipe2(down, 0) != 0 || pipe2(up, 0) != 0) fail("pipe");
  std::string words[] = {python,
                         script,
                         std::to_string(shape.tokens),
                         std::to_string(shape.hidden),
                         std::to_string(shape.ffn),
                         std::to_string(shape.experts),
                         std::to_string(shape.top_k),
                         shape.dtype(),
                         std::to_string(kThreads)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    close(down[1]);
    close(up[0]);
    replace(0, down[0]);
    replace(1, up[1]);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = up[0];
  version_ = line();
}

Torch::~Torch() {
  close(to_);  // its end of input
  close(from_);
  waitpid(pid_, nullptr, 0);
}

std::string Torch::line() {
  std::string text;
  char c = 0;
  while (read(from_, &c, 1) == 1) {
    if (c == '\n') return text;
    text += c;
  }
  fail("the torch program ended; its own message is above");
}

double Torch::run() {
  if (write(to_, "\n", 1) != 1) fail("the torch program does not listen");
  return std::stod(line());
}

}  // namespace bench
