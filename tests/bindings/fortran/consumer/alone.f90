! SPDX-License-Identifier: Apache-2.0
! Copyright 2026 The moemesh authors
program alone
  use moemesh
  implicit none
  type(moemesh_context) :: context
  type(moemesh_context_info) :: info
  call moemesh_context_create(context)
  call moemesh_context_get_info(context, info)
  if (info%size /= 1) error stop 1
  call moemesh_context_finalize(context)
  call moemesh_context_destroy(context)
end program
