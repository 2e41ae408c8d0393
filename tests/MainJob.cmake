# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# main_job_*: examples/train_lm, tiny and for a few steps, on one rank and on meshes; the losses must agree. In bf16 what
# goes from stage to stage is rounded, which one rank does not do. main_job_refuses_*: wrong command lines are found before
# the first step. launch_flags and rank_environment: see MultiRank.cmake.

set(main_job_text "${PROJECT_SOURCE_DIR}/capi/moemesh.h")
set(main_job_sizes --steps 6 --warmup 3 --hidden 16 --ffn 16 --heads 4 --layers 3 --seq 32 --sequences 2 --eval-every 0)
set(main_job_fp32 --shared-ffn 8)
set(main_job_bf16 --dtype bf16 --tied)
set(main_job_balance --capacity 1.25 --drop gate --aux 0.01 --aux-scope sequence --z 0.001
    --bias-rate 0.02)

# MPI comes and goes with the library's module here: what it never freed has no names left by which to leave it out.
set(main_job_environment "${rank_environment}")
list(FILTER main_job_environment EXCLUDE REGEX "^ASAN_OPTIONS=")
list(APPEND main_job_environment "ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1")

# The reference of `kind`: the same training on one rank, without MPI.
function(moemesh_main_job_reference kind)
  add_test(NAME main_job_${kind} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/main_job" 0 - main_job_${kind}.losses
           $<TARGET_FILE:train_lm> ${main_job_sizes} ${main_job_${kind}} ${main_job_text})
  set_tests_properties(main_job_${kind} PROPERTIES
    TIMEOUT 120 LABELS main_job FIXTURES_SETUP main_job_${kind} ENVIRONMENT "${main_job_environment}")
endfunction()

# Arguments after `ranks`: of train_lm, the mesh among them.
function(moemesh_main_job kind mesh tolerance ranks)
  set(name main_job_${kind}_${mesh})
  add_test(NAME ${name} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/main_job" ${tolerance} main_job_${kind}.losses ${name}.losses
           ${MPIEXEC_EXECUTABLE} ${launch_flags} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:train_lm> --mpi
           ${main_job_sizes} ${main_job_${kind}} ${ARGN} ${main_job_text})
  set_tests_properties(${name} PROPERTIES
    TIMEOUT 120 RUN_SERIAL ON LABELS main_job FIXTURES_REQUIRED main_job_${kind} ENVIRONMENT "${main_job_environment}")
endfunction()

# `text` must be said of the arguments behind it, on one rank or (moemesh_main_job_refuses_on) on more.
function(moemesh_main_job_refuses name text)
  add_test(NAME main_job_refuses_${name}
           COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/main_job_refuses" "${text}" $<TARGET_FILE:train_lm> ${ARGN})
  set_tests_properties(main_job_refuses_${name} PROPERTIES
    TIMEOUT 120 LABELS main_job ENVIRONMENT "${main_job_environment}")
endfunction()
function(moemesh_main_job_refuses_on ranks name text)
  add_test(NAME main_job_refuses_${name}_${ranks}
           COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/main_job_refuses" "${text}" ${MPIEXEC_EXECUTABLE} ${launch_flags}
           ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:train_lm> --mpi --dp ${ranks} ${ARGN})
  set_tests_properties(main_job_refuses_${name}_${ranks} PROPERTIES
    TIMEOUT 120 RUN_SERIAL ON LABELS main_job ENVIRONMENT "${main_job_environment}")
endfunction()

moemesh_main_job_refuses(chunks "chunks: expected 1..1024, got 1025" --check --chunks 1025)
moemesh_main_job_refuses(small_capacity "capacity_factor: expected .* got 1e-05" --check --capacity 0.00001)
moemesh_main_job_refuses(large_capacity "capacity_factor: expected .* got 10000000000000" --check --capacity 1e13)
moemesh_main_job_refuses(order "order" --check --order tp-ep)
moemesh_main_job_refuses(file_for_timeline "--timeline: Not a directory" --timeline ${main_job_text} ${main_job_text})
moemesh_main_job_refuses(no_losses "--losses: No such file" --losses /nowhere/at/all ${main_job_text})
moemesh_main_job_refuses(no_timeline "--timeline: No such file" --timeline /nowhere/at/all ${main_job_text})
foreach(kind fp32 bf16 balance)
  moemesh_main_job_reference(${kind})
endforeach()
set(main_job_seed_mesh --ep 2 --pp 2 --dp 2)
set(main_job_slices --tp 2 --expert-tp 1 --pp 2)
foreach(ranks IN LISTS MOEMESH_TEST_RANKS)
  if(ranks EQUAL 2)
    moemesh_main_job_refuses_on(2 timeline "--timeline: Not a directory" --timeline ${main_job_text} ${main_job_text})
  elseif(ranks EQUAL 4)
    moemesh_main_job(fp32 pp2_ep2 1e-6 4 --ep 2 --pp 2 --timeline main_job_timeline)
    moemesh_main_job(fp32 tp2_pp2_gpipe 1e-6 4 ${main_job_slices} --schedule gpipe)
    moemesh_main_job(balance pp2_dp2 1e-6 4 --pp 2 --dp 2 --order pp-dp-ep-tp)
    moemesh_main_job(bf16 pp2_ep2 1e-2 4 --ep 2 --pp 2 --stage 2)
    moemesh_main_job(fp32 pp2_ep2_full_chunks 1e-6 4 --ep 2 --pp 2 --recompute full --chunks 3)
  elseif(ranks EQUAL 8)
    moemesh_main_job(fp32 seed_mesh 1e-6 8 ${main_job_seed_mesh})
    moemesh_main_job(fp32 tp2_pp2_dp2_stage2 1e-6 8 ${main_job_slices} --dp 2 --stage 2)
    moemesh_main_job(balance seed_mesh 1e-6 8 ${main_job_seed_mesh} --schedule gpipe)
  endif()
endforeach()
