! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
!
! moemesh for Fortran 2008 with TS 29113: everything of moemesh.h, whose comments say what each call does. This module
! needs no MPI; moemesh_mpi adds contexts on communicators.
!
!   call moemesh_layer_forward(layer, x, y, tape, ierr=ierr)
!
! Names      are C's. The last argument of every call but the destroys is ierr, optional: MOEMESH_OK = 0 or a
!            MOEMESH_ERROR_*. Without it an error prints its text and is an `error stop 1`. moemesh_last_error has the
!            text.
! Handles    type(moemesh_layer) and so on; one that was not created is NULL, which optimizer_create and pipeline_create
!            take for `none`. Copies are copies of the handle, not of the object; nothing is destroyed by itself.
! Structs    p = moemesh_mesh_params(ep=2, dp=2): the library's defaults with some fields changed; or call
!            moemesh_mesh_params_init(p). Fields are C's, flags are logical, texts allocatable.
! Numbers    arguments of calls are of the default kind, fields of C's. moemesh_mesh_params(...) and its like take
!            integers and logicals of any kind; for a real field a real(c_float), whose digits it keeps, a real(c_double)
!            or an integer. Another type, or a value that the field can't hold, prints which argument it is and is an
!            `error stop 1`. Where such a call fits none of that (an argument that is no field's, struct_size), the
!            compiler either refuses it or makes a type without the defaults, which the first call refuses.
! Arrays     are C's with the extents reversed: the tokens [T, H] of the header are x(H, T), a weight [F, H] is w(H, F).
!            They are contiguous (the compiler copies others for the time of a call). real(c_float) is FLOAT32,
!            integer(c_int16_t) bf16. In place of their arrays the collectives, and the calls on values, gradients and
!            tokens, take moemesh_array(pointer, dtype, shape, memory): device memory, where the library has it.
! Experts    are counted from 1, here and in what comes back; 0 is refused, and what comes back is 0 for `nowhere`.
!            So are microbatches, list entries, layers of a report, and dimensions. Ranks, positions in groups,
!            coordinates, stages and steps are counted from 0, as in MPI and in what the library writes.
! Callbacks  are bind(c) procedures of a module, of the interfaces moemesh_log_function and so on, given by assignment:
!            params%log = c_funloc(my_log). They must not stop the program.
module moemesh
  use, intrinsic :: iso_c_binding, only: c_null_ptr, c_ptr
  use moemesh_c, only: moemesh_allocate_function, moemesh_clock_function, moemesh_free_function, moemesh_log_function, &
    moemesh_pipeline_action_c, moemesh_pipeline_function, moemesh_status_name_c, moemesh_status_text_c
  use moemesh_f_arrays
  use moemesh_f_base, only: moemesh_array, moemesh_c_text, moemesh_library_error, moemesh_own_error
  use moemesh_f_calls
  use moemesh_f_constants
  use moemesh_f_layers
  use moemesh_f_objects, moemesh_objects_to_c => moemesh_to_c, moemesh_objects_from_c => moemesh_from_c
  use moemesh_f_parameters
  use moemesh_f_pipelines
  implicit none
  public
  private :: c_null_ptr, c_ptr, moemesh_library_error, moemesh_objects_from_c, moemesh_objects_to_c, moemesh_own_error
  private :: moemesh_status_name_c, moemesh_status_text_c

contains

  ! The text of the last error: of the context's, or of this thread's, with the numbers and shapes as Fortran has them.
  subroutine moemesh_last_error(text, context, ierr)
    character(:), allocatable, intent(out) :: text
    type(moemesh_context), intent(in), optional :: context
    integer, intent(out), optional :: ierr
    if (present(context)) then
      text = moemesh_library_error(moemesh_handle(context))
    else
      text = moemesh_own_error()
    end if
    if (present(ierr)) ierr = 0
  end subroutine

  function moemesh_status_name(status) result(name)
    integer, intent(in) :: status
    character(:), allocatable :: name
    name = moemesh_c_text(moemesh_status_name_c(status))
  end function

  function moemesh_status_text(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = moemesh_c_text(moemesh_status_text_c(status))
  end function
end module
