// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors
//
// P38 over ranks, P41 and the MPI parts of P40: the library beside the program's own MPI.
#include <array>
#include <memory>
#include <thread>

#include "case_support.hpp"
#include "moemesh_mpi.h"

namespace moemesh::test {
namespace {

// Everything above the layer is destroyed while a tape lives; it still goes through its exchange.
TEST(Case, P38_parents_outlive_children) {
  CASE_RANKS(ranks, 2);
  auto session = std::make_unique<Session>(ranks.comm());
  auto mesh = std::make_unique<Mesh>(*session, case_mesh(1, 2, 1));
  ScaleModel scale(*mesh, {.experts = 2, .optimizer = sgd(0)});
  Tape tape;
  scale.begin_tokens(2);
  EXPECT_EQ(scale.forward({1, 2}, route({1, 0}, 2), &tape), (Floats{2, 2}));
  // Not finalized: the children live on. (Communicators of a mesh that is finalized would be gone.)
  moemesh_mesh mesh_copy = mesh->get();
  moemesh_context context_copy = session->get();
  moemesh_mesh_destroy(&mesh_copy);
  moemesh_context_destroy(&context_copy);
  EXPECT_EQ(scale.backward_ones(&tape, 2), (Floats{2, 1}));
  EXPECT_EQ(scale.model().update().steps, 1);
}

// After the mesh's finalize its children return errors, and destroying them is all that is left.
TEST(Case, P38_children_of_a_finalized_mesh) {
  CASE_RANKS(ranks, 2);
  const Session session(ranks.comm());
  Mesh mesh(session, case_mesh(1, 2, 1));
  ScaleModel scale(mesh, {.experts = 2, .optimizer = sgd(0)});
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, moemesh_context_finalize(session.get()));
  mesh.finalize();
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE, moemesh_step_begin(scale.model().optimizer(), nullptr));
  float value = 0;
  const auto view = view_of(&value, {1, 1});
  EXPECT_STATUS(MOEMESH_ERROR_INVALID_STATE,
                moemesh_parameter_read(scale.model().parameter("moe.w1"), MOEMESH_VALUE, 0, &view));
}

// A communicator of another kind than the module's, and one that is none.
TEST(Case, P40_communicator_kinds) {
  auto params = with_defaults(moemesh_context_params_init);
  moemesh_context context = nullptr;
  params.comm = moemesh_comm_from_mpi(MPI_COMM_WORLD);
  const int32_t right = params.comm.kind;
  for (const int32_t kind : {MOEMESH_COMM_OPENMPI, MOEMESH_COMM_MPICH_ABI, MOEMESH_COMM_MPI_ABI}) {
    if (kind == right) continue;
    params.comm.kind = kind;
    EXPECT_STATUS(MOEMESH_ERROR_MPI_KIND, moemesh_context_create(&params, &context));
  }
  params.comm = moemesh_comm_from_mpi(MPI_COMM_NULL);
  EXPECT_NE(moemesh_context_create(&params, &context), MOEMESH_OK);
  EXPECT_EQ(context, nullptr);
  EXPECT_NE(last_error().find("MPI_COMM_NULL"), std::string::npos) << last_error();
}

// MPI was started at FUNNELED: another thread must not use it.
TEST(Case, P40_another_thread_at_funneled) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level > MPI_THREAD_FUNNELED) GTEST_SKIP() << "this MPI gave a higher level than it was asked for";
  int32_t status = MOEMESH_OK;
  std::thread([&] {
    auto params = with_defaults(moemesh_context_params_init);
    params.comm = moemesh_comm_from_mpi(MPI_COMM_WORLD);
    moemesh_context context = nullptr;
    status = moemesh_context_create(&params, &context);
  }).join();
  EXPECT_STREQ(moemesh_status_name(status), "MOEMESH_ERROR_MPI_THREAD_LEVEL");
}

void keep_errors(MPI_Comm*, int*, ...) {}

// The program's own traffic on the communicator it gave, around a whole step of the library.
TEST(Case, P41_mpi_hygiene) {
  CASE_RANKS(ranks, 2);
  MPI_Comm application = MPI_COMM_NULL, given = MPI_COMM_NULL;
  MPI_Comm_dup(ranks.comm(), &application);
  MPI_Comm_dup(ranks.comm(), &given);
  int key = MPI_KEYVAL_INVALID, attribute = 7;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(application, key, &attribute);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(keep_errors, &handler);
  MPI_Comm_set_errhandler(application, handler);
  const Session session(application);
  const Session of_freed(given);
  MPI_Comm_free(&given);  // the library has its own
  const int other = 1 - world_rank();
  int received = -1, sum = 0;
  const int mine = world_rank() + 1, answer = 42;
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, application, &requests[0]);
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, application, &requests[1]);
  for (const Session* one : {&session, &of_freed}) {
    const Mesh mesh(*one, case_mesh(1, 2, 1));
    ScaleModel scale(mesh, {.experts = 4, .optimizer = sgd(0)});
    scale.expect_good_step();
  }
  MPI_Send(&answer, 1, MPI_INT, other, 5, application);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_EQ(received, 42);
  EXPECT_EQ(sum, 3);
  MPI_Errhandler now = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(application, &now);
  EXPECT_EQ(now, handler);
  void* found = nullptr;
  int flag = 0;
  MPI_Comm_get_attr(application, key, static_cast<void*>(&found), &flag);
  EXPECT_TRUE(flag != 0 && found == &attribute);
  MPI_Errhandler_free(&now);
  MPI_Errhandler_free(&handler);
  MPI_Comm_delete_attr(application, key);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&application);
}

}  // namespace
}  // namespace moemesh::test
