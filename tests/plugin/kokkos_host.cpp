// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P45. kokkos_host CHECK FOLDER [mpi]: a program with a Kokkos of its own, static or shared, of this version or another,
// that loads the library while it runs, or is linked to it; then FOLDER is not looked at. With `mpi` its own MPI is up.
// Kokkos starts and ends once, so each check is a process of its own.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstring>

extern "C" {
#include "counts.h"
#include "host_mpi.h"
#include "round.h"
}

// Null where the program is not linked to the library.
extern "C" const moemesh_api* moemesh_get_api(int32_t abi_version) __attribute__((weak));

namespace {

constexpr int length = 100000;
moemesh_comm comm = no_communicator();
using Array = Kokkos::View<double*, Kokkos::HostSpace>;

struct Library {
  explicit Library(const char* folder) {
    if (moemesh_get_api)
      opened.api = moemesh_get_api(MOEMESH_ABI_VERSION);
    else
      open_library(&opened, folder);
  }
  void close() {
    if (moemesh_get_api)
      EXPECT(opened.api->shutdown() == MOEMESH_OK);
    else
      close_library(&opened);
  }
  void train() const { run_steps(opened.api, comm); }

  plugin opened{};
};

void start_kokkos() {
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(2).set_disable_warnings(true));
}

// The program's Kokkos works: a sum over an array of its own.
void expect_kokkos_works(const Array& array) {
  double sum = 0;
  const Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace> all(0, length);
  Kokkos::parallel_for("fill", all, [=](int i) { array(i) = i; });
  Kokkos::fence();
  Kokkos::parallel_reduce(
      "sum", all, [=](int i, double& part) { part += array(i); }, sum);
  EXPECT(sum == 0.5 * length * (length - 1.0));
}

// (a) The program's Kokkos is up before, during and after two rounds of the library.
void host_first(const char* folder) {
  start_kokkos();
  {
    const Array array("array", length);
    for (int i = 0; i < 2; ++i) {
      Library library(folder);
      library.train();
      library.train();
      expect_kokkos_works(array);
      if (!moemesh_get_api) library.close();  // one that is linked can't be started again
      EXPECT(Kokkos::is_initialized() && !Kokkos::is_finalized());
      expect_kokkos_works(array);
    }
  }
  Kokkos::finalize();
}

// The library is at work before the program's Kokkos starts, and after it ended.
void library_first(const char* folder) {
  Library library(folder);
  library.train();
  EXPECT(!Kokkos::is_initialized() && !Kokkos::is_finalized());
  start_kokkos();
  {
    const Array array("array", length);
    library.train();
    expect_kokkos_works(array);
  }
  Kokkos::finalize();
  library.train();
  library.close();
}

// The library is closed, its Kokkos too, while the program's goes on.
void closed_before_host(const char* folder) {
  Library library(folder);
  library.train();
  start_kokkos();
  {
    const Array array("array", length);
    library.train();
    library.close();
    expect_kokkos_works(array);
  }
  Kokkos::finalize();
}

// (b) The program has a Kokkos and never starts it.
void never_started(const char* folder) {
  Library library(folder);
  library.train();
  library.train();
  EXPECT(!Kokkos::is_initialized());
  library.close();
  EXPECT(!Kokkos::is_finalized());
}

// (c) Of two problems that are alive at once, one is destroyed; (d) work of the program on an instance of its own goes
// on meanwhile and is complete after that instance's fence.
void two_at_once(const char* folder) {
  start_kokkos();
  Library library(folder);
  {
    const Array array("array", length);
    const Kokkos::DefaultHostExecutionSpace instance;
    problem first, second;
    double loss = 0, other = 0;
    for (problem* p : {&first, &second}) {
      EXPECT(problem_init(p, library.opened.api) == MOEMESH_OK);
      p->context_params.comm = comm;
      EXPECT(problem_create(p) == MOEMESH_OK);
    }
    Kokkos::parallel_for("own work", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(instance, 0, length),
                         [=](int i) { array(i) = 2.0 * i; });
    EXPECT(problem_step(&first, &loss) == MOEMESH_OK);
    EXPECT(problem_finalize(&first) == MOEMESH_OK);
    problem_destroy(&first);
    EXPECT(problem_step(&second, &other) == MOEMESH_OK);
    EXPECT(loss == other);
    instance.fence();
    EXPECT(array(length - 1) == 2.0 * (length - 1));
    EXPECT(problem_finalize(&second) == MOEMESH_OK);
    problem_destroy(&second);
    expect_kokkos_works(array);
  }
  library.close();
  Kokkos::finalize();
}

const struct {
  const char* name;
  void (*run)(const char* folder);
} checks[] = {{"host_first", host_first},
              {"library_first", library_first},
              {"closed_before_host", closed_before_host},
              {"never_started", never_started},
              {"two_at_once", two_at_once}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (const auto& check : checks) {
    if (std::strcmp(check.name, argv[1]) != 0) continue;
    const bool mpi = argc > 3;
    if (mpi) start_mpi();
    if (mpi) comm = host_communicator();
    check.run(argv[2]);
    if (mpi) end_mpi();
    return failures == 0 ? 0 : 1;
  }
  return 2;
}
