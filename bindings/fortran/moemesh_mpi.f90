! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! The module moemesh, and contexts on communicators: those of mpi_f08, and the integers of mpif.h and `use mpi`.
module moemesh_mpi
  use, intrinsic :: iso_c_binding, only: c_int32_t, c_int64_t
  use mpi_f08, only: MPI_Comm, MPI_Get_library_version, MPI_MAX_LIBRARY_VERSION_STRING
  use moemesh
  implicit none
  public
  private :: c_int32_t, c_int64_t, MPI_Comm, MPI_Get_library_version, MPI_MAX_LIBRARY_VERSION_STRING
  private :: comm_from_f08, comm_from_integer, context_create_f08, context_create_integer

  ! comm is the program's: moemesh_context_create duplicates it.
  interface moemesh_comm_from_mpi
    module procedure comm_from_f08, comm_from_integer
  end interface

  ! (comm, context [, params] [, ierr]), beside the module moemesh's (context [, params] [, ierr]). comm takes the place
  ! of the one in params. Collective over comm.
  interface moemesh_context_create
    module procedure context_create_f08, context_create_integer
  end interface

contains

  function comm_from_integer(comm) result(made)
    integer, intent(in) :: comm
    type(moemesh_comm) :: made
    made%handle = int(comm, c_int64_t)
    made%kind = mpi_kind()
  end function

  function comm_from_f08(comm) result(made)
    type(MPI_Comm), intent(in) :: comm
    type(moemesh_comm) :: made
    made = comm_from_integer(comm%MPI_VAL)
  end function

  ! Which MPI this program runs with: a number means nothing without it. May be asked before MPI is started.
  function mpi_kind() result(kind)
    integer(c_int32_t) :: kind
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: name
    integer :: length, ierr
    name = ""
    call MPI_Get_library_version(name, length, ierr)
    kind = MOEMESH_COMM_MPI_ABI ! an MPI that is not known here; the library refuses it by name
    if (index(name, "Open MPI") > 0) then
      kind = MOEMESH_COMM_OPENMPI
    else if (index(name, "MPICH") > 0 .or. index(name, "Intel(R) MPI") > 0 .or. index(name, "MVAPICH") > 0) then
      kind = MOEMESH_COMM_MPICH_ABI
    end if
  end function

  subroutine context_create_integer(comm, context, params, ierr)
    integer, intent(in) :: comm
    type(moemesh_context), intent(inout) :: context
    type(moemesh_context_params), intent(in), optional :: params
    integer, intent(out), optional :: ierr
    type(moemesh_context_params) :: own
    if (present(params)) then
      own = params
    else
      call moemesh_context_params_init(own)
    end if
    own%comm = comm_from_integer(comm)
    call moemesh_context_create(context, own, ierr)
  end subroutine

  subroutine context_create_f08(comm, context, params, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(moemesh_context), intent(inout) :: context
    type(moemesh_context_params), intent(in), optional :: params
    integer, intent(out), optional :: ierr
    call context_create_integer(comm%MPI_VAL, context, params, ierr)
  end subroutine
end module
