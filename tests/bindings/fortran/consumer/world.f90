! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
program world
  use mpi_f08
  use moemesh_mpi
  implicit none
  type(moemesh_context) :: context
  type(moemesh_context_info) :: info
  integer :: ranks
  call MPI_Init
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call moemesh_context_create(MPI_COMM_WORLD, context)
  call moemesh_context_get_info(context, info)
  if (info%size /= ranks) error stop 1
  call moemesh_context_finalize(context)
  call moemesh_context_destroy(context)
  call MPI_Finalize
end program
