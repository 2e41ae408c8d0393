# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# With which arguments, and in which state (world.h), every function has a call that succeeds. A new function of the header
# that these tables don't cover is an error of generate.py.

# Arguments that read the same wherever they occur; "function.argument" comes first.
VALUES = {
    "status": "0",
    "capacity": "64",
    "dtype": "MOEMESH_FLOAT32",
    "view_init.rank": "2",
    "extents": "w.v.extents",
    "data": "w.v.array_data",
    "world": "2",
    "rank": "0",
    "axes": "MOEMESH_AXIS_EP",
    "axis": "MOEMESH_AXIS_EP",
    "position": "0",
    "experts": "4",
    "op": "MOEMESH_SUM",
    "root": "0",
    "index": "0",
    "name": '"p"',
    "mark_begin.name": '"mark"',
    "stream": "NULL",
    "quantity": "MOEMESH_VALUE",
    "expert": "0",
    "recompute": "0",
    "tokens": "3",
    "loss_tokens.microbatch": "0",
    "reduce": "0",
    "function": "world_action",
    "user": "NULL",
    "stage": "0",
    "output": "MOEMESH_REPORT_TABLE",
    "report_write.step": "-1",
    "path": "w.v.path",
    "bill_add_parameter.family": "MOEMESH_SHARED",
    "optimizer_get_bytes.family": "MOEMESH_SHARED",
    # handles that are not the usual one of their kind
    "context_finalize.context": "w.spare_context",
    "mesh_finalize.mesh": "w.spare_mesh",
    "bill_create.mesh": "w.planned",
    "parameter_register.family": "w.fresh_shared",
    "abi_version": "1",
    "family_commit.family": "w.fresh_shared",
    "parameters_changed.family": "w.shared",
    "parameter_find.family": "w.shared",
    "layer_create.shared": "w.fresh_shared",
    "layer_create.expert": "w.fresh_expert",
    "optimizer_create.shared": "w.free_shared",
    "optimizer_create.expert": "w.free_expert",
    # structs that a function reads
    "context_create.params": "&w.v.context",
    "mesh_create.params": "&w.v.mesh",
    "mesh_plan.params": "&w.v.planned_mesh",
    "family_create.params": "&w.v.family",
    "parameter_register.params": "&w.v.parameter",
    "layer_create.params": "&w.v.layer",
    "layer_forward.params": "&w.v.forward",
    "layer_backward.params": "&w.v.backward",
    "layer_replay.params": "&w.v.replay",
    "layer_plan_bytes.load": "&w.v.load",
    "optimizer_create.params": "&w.v.optimizer",
    "optimizer_set_counters.counters": "&w.v.counters",
    "step_begin.params": "&w.v.step",
    "optimizer_step.params": "&w.v.update",
    "pipeline_create.params": "&w.v.pipeline",
    "run": "&w.v.run",
    "bill_create.params": "&w.v.bill",
    "bill_add_layer.params": "&w.v.bill_layer",
    "bill_add_parameter.params": "&w.v.bill_parameter",
    "bill_set_pipeline.params": "&w.v.pipeline",
    "routing": "&w.v.routing",
    "report_create.params": "&w.v.report",
    # views
    "view_copy.from": "&w.v.array",
    "view_copy.to": "&w.v.more",
    "array": "&w.v.array",
    "send": "&w.v.array",
    "receive": "&w.v.more",
    "parameter_read.array": "&w.v.whole",
    "parameter_write.array": "&w.v.whole",
    "gradient": "&w.v.gradient",
    "tape_get_routing.experts": "&w.v.experts",
    "gates": "&w.v.gates",
    "rows_per_expert": "&w.v.rows",
    "rows_received": "&w.v.received",
    "bias": "&w.v.bias",
}

STATES = {
    "parameter_register": "FRESH",
    "family_commit": "FRESH",
    "layer_create": "FRESH",
    "optimizer_create": "FREE",
    "layer_forward": "STEP",
    "layer_backward": "TAPE",
    "layer_replay": "TAPE",
    "tape_get_bytes": "TAPE",
    "tape_get_routing": "TAPE",
    "gradient_ready": "STEP",
    "optimizer_step": "STEP",
    "step_end": "STEP",
    "loss_tokens": "TOKENS",
    "parameter_release": "ACQUIRED",
    "pipeline_next": "RUN",
    "pipeline_done": "ACTION",
    "report_mark_end": "MARKED",
    "report_create": "QUIET",
    "context_finalize": "SPARE",
    "mesh_finalize": "SPARE",
}

# Whatever they return, the step is closed.
SPENDS = {"optimizer_step", "step_end"}

# Destroys are tried with bad handles alone: world.c makes the good calls. shutdown can't be undone; tests/states has it.
NO_VALID_CALL = {"shutdown"}

# Read and written at once.
HANDLE_AT = {"layer_backward.tape", "layer_replay.tape"}

# Pointers that the library only hands on, or may store NULL for.
ANY = {"view_init.data", "pipeline_execute.user", "moemesh_context_params.log_user", "moemesh_context_params.allocator_user",
       "moemesh_context_params.clock_user"}
