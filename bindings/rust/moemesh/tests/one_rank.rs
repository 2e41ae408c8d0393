// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! What one rank shows. `cargo test` runs these on several threads at once, each with contexts of its own.

mod common;

use std::sync::{Arc, Mutex};

use common::*;
use moemesh::*;

fn alone() -> Context {
    Context::new(ContextParams::new()).unwrap()
}

#[test]
fn a_layer_equals_its_dense_computation() {
    let model = Model::alone().unwrap();
    let dense = Dense::read(&model, Quantity::Value).unwrap();
    let (x, dy) = (numbers(1, 9 * HIDDEN), numbers(2, 9 * HIDDEN));
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    let (y, dx) = model.run(&step, &x, &dy).unwrap();
    step.end(true).unwrap();
    let mut gradients = dense.zeros();
    let expected = dense.run(&x, &dy, &mut gradients);
    assert_close(&wide(&y), &expected.0, "y");
    assert_close(&wide(&dx), &expected.1, "dx");
    Dense::read(&model, Quantity::Gradient).unwrap().assert_close(&gradients, "gradient");
    model.finalize().unwrap();
}

/// Storage order and numbers of experts.
#[test]
fn p42_rows_are_tokens_and_experts_count_from_0() {
    let context = alone();
    let mesh = Mesh::new(&context, &MeshParams::new()).unwrap();
    let (shared, expert) = families(&mesh).unwrap();
    let params = layer_params().hidden(2).ffn(2).experts(3).top_k(1).activation(Activation::Identity);
    let layer = Layer::new(&mesh, &shared, &expert, &params.router(RouterKind::Caller)).unwrap();
    shared.commit().unwrap();
    expert.commit().unwrap();
    for e in 0..3 {
        expert.find("moe.w1").unwrap().write(Quantity::Value, e, &[1.0, 2.0, 3.0, 4.0]).unwrap();
        expert.find("moe.w2").unwrap().write(Quantity::Value, e, &[1.0, 0.0, 0.0, 1.0]).unwrap();
    }
    let optimizer = Optimizer::new(&mesh, Some(&shared), Some(&expert), &OptimizerParams::new()).unwrap();
    let step = optimizer.begin(&StepParams::new()).unwrap();
    let x = [1.0f32, 1.0, 3.0, 4.0, 5.0, 6.0];
    let logits = [9.0f32, 0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 9.0, 0.0]; // experts 0, 2, 1
    let mut y = [0f32; 6];
    let tape = layer
        .forward(
            &step,
            Forward::new(View::new(&x, &[3, 2]).unwrap(), ViewMut::new(&mut y, &[3, 2]).unwrap())
                .logits(View::new(&logits, &[3, 3]).unwrap()),
        )
        .unwrap();
    assert_eq!(y, [3.0, 7.0, 11.0, 25.0, 17.0, 39.0]);
    let (mut chosen, mut gates) = ([-2i32; 3], [0f32; 3]);
    let views = (&mut ViewMut::new(&mut chosen, &[3, 1]).unwrap(), &mut ViewMut::new(&mut gates, &[3, 1]).unwrap());
    tape.routing(views.0, views.1).unwrap();
    assert_eq!((chosen, gates), ([0, 2, 1], [1.0; 3]));
    assert_eq!(layer.rows().unwrap(), (vec![1, 1, 1], vec![1, 1, 1]));
    drop(tape);

    // The shape of the other order is no [tokens, hidden] here.
    let swapped = Forward::new(View::new(&x, &[2, 3]).unwrap(), ViewMut::new(&mut y, &[2, 3]).unwrap());
    let error = layer.forward(&step, swapped.logits(View::new(&logits[..6], &[2, 3]).unwrap())).err().unwrap();
    assert!(matches!(error, Error::InvalidArgument(_)), "{error}");
    assert!(error.message().contains("expected"), "{error}");
    // There is no expert 3.
    assert!(matches!(
        expert.find("moe.w1").unwrap().write(Quantity::Value, 3, &[0.0; 4]),
        Err(Error::InvalidArgument(_))
    ));
}

/// A capacity factor of 1.1 means 11/10.
#[test]
fn p10_capacity_rounds_as_in_c() {
    for (tokens, k, experts, factor, slots) in
        [(10, 1, 4, 1.0, 3), (7, 2, 4, 1.0, 4), (9, 2, 4, 1.25, 6), (50, 2, 2, 1.1, 55), (3, 1, 8, 1.0, 1)]
    {
        let params = layer_params().experts(experts).top_k(k).capacity_factor(factor);
        let model = Model::new(alone(), &MeshParams::new(), &params, &OptimizerParams::new()).unwrap();
        let step = model.optimizer.begin(&StepParams::new()).unwrap();
        let x = numbers(3, tokens * HIDDEN);
        model.run(&step, &x, &x).unwrap();
        assert_eq!(model.layer.statistics().unwrap().slots, slots, "{tokens} {k} {experts} {factor}");
    }
}

#[test]
fn p43a_children_keep_their_parents_alive() {
    let Model { context, mesh, shared, expert, layer, optimizer } = Model::alone().unwrap();
    let router = shared.find("moe.router").unwrap();
    drop(context);
    drop(mesh);
    drop(shared);
    drop(expert);
    let step = optimizer.begin(&StepParams::new()).unwrap();
    drop(optimizer);
    let (x, mut y) = (numbers(1, HIDDEN), vec![0f32; HIDDEN]);
    let shape = [1, HIDDEN];
    let forward = Forward::new(View::new(&x, &shape).unwrap(), ViewMut::new(&mut y, &shape).unwrap());
    let tape = layer.forward(&step, forward).unwrap();
    drop(layer);
    let mut dx = vec![0f32; HIDDEN];
    let arrays = Backward::new(View::new(&y, &shape).unwrap(), ViewMut::new(&mut dx, &shape).unwrap());
    tape.backward(&step, arrays).unwrap();
    assert!(dx.iter().all(|v| v.is_finite() && *v != 0.0));
    assert_eq!(step.finish().unwrap().steps, 1);
    assert_eq!(router.acquire::<f32>().unwrap().len(), EXPERTS * HIDDEN);
}

#[test]
fn p43c_leaked_objects_leave_later_calls_sound() {
    let model = Model::alone().unwrap();
    let step = model.optimizer.begin(&StepParams::new().microbatches(2)).unwrap();
    let shape = [3, HIDDEN];
    {
        // The tape's x is freed and overwritten while the library still has its address.
        let x = numbers(1, 3 * HIDDEN);
        let mut y = vec![0f32; 3 * HIDDEN];
        let forward = Forward::new(View::new(&x, &shape).unwrap(), ViewMut::new(&mut y, &shape).unwrap());
        std::mem::forget(model.layer.forward(&step, forward).unwrap());
    }
    let poison = vec![f32::NAN; 3 * HIDDEN];
    let (x, dy) = (numbers(4, 3 * HIDDEN), numbers(5, 3 * HIDDEN));
    let found = model.run(&step, &x, &dy).unwrap();
    drop(poison);
    step.finish().unwrap();

    // A leaked step stays open, and nobody can close it; a leaked borrow of values keeps steps from being finished.
    let values = model.shared.find("moe.router").unwrap();
    std::mem::forget(model.optimizer.begin(&StepParams::new()).unwrap());
    assert!(matches!(model.optimizer.begin(&StepParams::new()), Err(Error::InvalidState(_))));
    assert!(matches!(model.optimizer.abandon_step(), Err(Error::InvalidState(_))));
    std::mem::forget(values.acquire::<f32>().unwrap());
    assert!(matches!(values.write(Quantity::Value, 0, &[0.0; EXPERTS * HIDDEN]), Err(Error::InvalidState(_))));

    let other = Model::alone().unwrap();
    let step = other.optimizer.begin(&StepParams::new()).unwrap();
    assert_eq!(other.run(&step, &x, &dy).unwrap(), found);
}

#[test]
fn a_step_that_was_dropped_can_be_closed() {
    let model = Model::alone().unwrap();
    drop(model.optimizer.begin(&StepParams::new()).unwrap());
    assert!(matches!(model.optimizer.begin(&StepParams::new()), Err(Error::InvalidState(_))));
    model.optimizer.abandon_step().unwrap();
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    assert!(matches!(model.optimizer.abandon_step(), Err(Error::InvalidState(_))));
    step.finish().unwrap();
}

#[test]
fn a_detached_tape_takes_its_x_again_and_replays() {
    let (x, dy) = (numbers(1, 5 * HIDDEN), numbers(2, 5 * HIDDEN));
    let model = Model::alone().unwrap();
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    let expected = model.run(&step, &x, &dy).unwrap();
    step.end(false).unwrap();

    let shape = [5, HIDDEN];
    let params = layer_params().recompute(Recompute::Full);
    let model = Model::new(alone(), &MeshParams::new(), &params, &OptimizerParams::new()).unwrap();
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    let (mut y, mut again, mut dx) = (vec![0f32; x.len()], vec![0f32; x.len()], vec![0f32; x.len()]);
    let tape = {
        let x = x.clone();
        let forward = Forward::new(View::new(&x, &shape).unwrap(), ViewMut::new(&mut y, &shape).unwrap());
        model.layer.forward(&step, forward).unwrap().detach()
    };
    assert_eq!(tape.bytes().unwrap().hidden, 0);
    let tape = tape
        .attach(View::new(&x, &shape).unwrap())
        .replay(&step, View::new(&x, &shape).unwrap(), ViewMut::new(&mut again, &shape).unwrap())
        .unwrap();
    assert!(tape.bytes().unwrap().hidden > 0);
    let arrays = Backward::new(View::new(&dy, &shape).unwrap(), ViewMut::new(&mut dx, &shape).unwrap());
    tape.backward(&step, arrays).unwrap();
    assert_eq!((&y, &again), (&expected.0, &expected.0));
    assert_eq!(dx, expected.1);
    assert_eq!(model.layer.memory().unwrap().tapes, 0);
}

#[test]
fn a_parameter_of_the_programs_own_is_trained() {
    let context = alone();
    let mesh = Mesh::new(&context, &MeshParams::new()).unwrap();
    let family = Family::new(&mesh, &FamilyParams::new().kind(FamilyKind::Shared)).unwrap();
    let params = ParameterParams::new().name("w").extents(&[2, 3]).init_value(1.0);
    let w = family.register(&params).unwrap();
    family.commit().unwrap();
    let rules = OptimizerParams::new().kind(OptimizerKind::Sgd).learning_rate(0.5);
    let optimizer = Optimizer::new(&mesh, Some(&family), None, &rules).unwrap();
    let step = optimizer.begin(&StepParams::new().microbatches(2)).unwrap();
    // Once handed over, once written in place.
    let columns = [1f32, 4.0, 2.0, 5.0, 3.0, 6.0];
    w.ready(&step, Some(View::strided(&columns, &[2, 3], &[1, 2]).unwrap())).unwrap();
    w.with_gradient(&step, |gradient| {
        assert_eq!(gradient, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        gradient[0] += 3.0;
        // The library is closed to a closure that has its memory.
        assert!(matches!(w.info(), Err(Error::InvalidState(_))));
        assert!(matches!(w.with_gradient(&step, |_| ()), Err(Error::InvalidState(_))));
    })
    .unwrap();
    w.ready(&step, None).unwrap();
    assert!(matches!(w.with_gradient(&step, |_| ()), Err(Error::InvalidState(_))));
    assert!(matches!(w.ready(&step, None), Err(Error::InvalidState(_))));
    let result = step.finish().unwrap();
    assert_eq!((result.steps, result.skipped), (1, 0));
    // Mean of two microbatches.
    assert_eq!(*w.acquire::<f32>().unwrap(), [0.0, 0.5, 0.25, 0.0, -0.25, -0.5]);
    assert!(matches!(w.acquire::<Bf16>(), Err(Error::InvalidArgument(_))));
    w.with_values_mut(|values: &mut [f32]| values.fill(7.0)).unwrap();
    family.parameters_changed().unwrap();
    let mut whole = [0f32; 6];
    w.read(Quantity::Value, 0, &mut whole).unwrap();
    assert_eq!(whole, [7.0; 6]);
    assert!(matches!(w.read(Quantity::Value, 0, &mut whole[..4]), Err(Error::InvalidArgument(_))));
    assert_eq!(optimizer.counters().unwrap().steps, 1);
    optimizer.set_counters(5, 2).unwrap();
    assert_eq!(optimizer.counters().unwrap().skips, 2);
    assert_eq!(optimizer.bytes(FamilyKind::Shared).unwrap().elements, 6);
    assert!(matches!(optimizer.bytes(FamilyKind::Expert), Err(Error::NotFound(_))));
}

#[test]
fn borrowed_values_do_not_change() {
    let model = Model::alone().unwrap();
    let router = model.shared.find("moe.router").unwrap();
    let values = router.acquire::<f32>().unwrap();
    let before = values.to_vec();
    let (x, dy) = (numbers(1, HIDDEN), numbers(2, HIDDEN));
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    model.run(&step, &x, &dy).unwrap();
    assert!(matches!(router.with_values_mut(|_: &mut [f32]| ()), Err(Error::InvalidState(_))));
    assert!(matches!(step.finish(), Err(Error::InvalidState(_))));
    assert_eq!(*values, before);
    drop(values);
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    model.run(&step, &x, &dy).unwrap();
    step.finish().unwrap();
    assert_ne!(*router.acquire::<f32>().unwrap(), before);
}

#[test]
fn borrowed_memory_is_the_parameters() {
    let context = alone();
    let mesh = Mesh::new(&context, &MeshParams::new()).unwrap();
    let family = Family::new(&mesh, &FamilyParams::new().kind(FamilyKind::Shared)).unwrap();
    let data: &'static mut [f32] = Box::leak(Box::new([1f32, 2.0, 3.0]));
    let params = ParameterParams::new().name("w").extents(&[3]);
    // SAFETY: three floats that live for ever, used through the parameter alone from now on.
    let w = unsafe { family.register_borrowed(&params, data.as_mut_ptr().cast(), std::ptr::null_mut()) }.unwrap();
    family.commit().unwrap();
    assert_eq!(*w.acquire::<f32>().unwrap(), [1.0, 2.0, 3.0]);
}

#[test]
fn everything_may_change_its_thread() {
    fn send<T: Send>() {}
    send::<(Context, Mesh, Family, Parameter, Layer)>();
    send::<(Optimizer, Step, Tape<'static>, DetachedTape)>();
    send::<(Pipeline<f32>, Report, Bill)>();

    let model = Model::alone().unwrap();
    let (x, dy) = (numbers(1, 4 * HIDDEN), numbers(2, 4 * HIDDEN));
    let step = model.optimizer.begin(&StepParams::new()).unwrap();
    let expected = model.run(&step, &x, &dy).unwrap();
    step.end(false).unwrap();
    // Parts of one context on several threads at once: they take turns.
    let Model { context, mesh, layer, optimizer, shared, expert } = model;
    let step = optimizer.begin(&StepParams::new().microbatches(8)).unwrap();
    std::thread::scope(|scope| {
        let queries = scope.spawn(move || {
            for _ in 0..200 {
                assert_eq!(mesh.coordinates(0).unwrap().tp, 0);
            }
            (context, mesh)
        });
        let found = scope.spawn(move || {
            let shape = [4, HIDDEN];
            let mut found = Vec::new();
            for microbatch in 0..8 {
                let (mut y, mut dx) = (vec![0f32; x.len()], vec![0f32; x.len()]);
                let forward = Forward::new(View::new(&x, &shape).unwrap(), ViewMut::new(&mut y, &shape).unwrap());
                let tape = layer.forward(&step, forward.microbatch(microbatch)).unwrap();
                let arrays = Backward::new(View::new(&dy, &shape).unwrap(), ViewMut::new(&mut dx, &shape).unwrap());
                tape.backward(&step, arrays).unwrap();
                found.push((y, dx));
            }
            step.finish().unwrap();
            found
        });
        assert!(found.join().unwrap().iter().all(|found| *found == expected));
        queries.join().unwrap();
    });
    drop((shared, expert));
}

#[test]
fn callbacks_can_panic_and_can_not_call() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let planned = Mesh::plan(2, &MeshParams::new().ep(2)).unwrap();
    let log = {
        let seen = seen.clone();
        let planned = Mutex::new(planned);
        move |_: LogLevel, message: &str| {
            let inside = planned.lock().unwrap().coordinates(0);
            seen.lock().unwrap().push(format!("{message} / {}", inside.unwrap_err()));
            if message.contains("MESH_SIZE") {
                panic!("on purpose");
            }
        }
    };
    let context = Context::new(ContextParams::new().log(LogLevel::Debug, log)).unwrap();
    let error = Mesh::new(&context, &MeshParams::new().ep(3)).err().unwrap();
    assert!(matches!(error, Error::MeshSize(_)), "{error}");
    assert!(matches!(Mesh::new(&context, &MeshParams::new().ep(5)), Err(Error::MeshSize(_))));
    // Dropped without finalize: the library says so through the log, which is still there.
    drop(context);
    let seen = seen.lock().unwrap();
    assert!(seen.iter().filter(|text| text.contains("MESH_SIZE")).count() == 2, "{seen:?}");
    assert!(seen.iter().all(|text| text.contains("from a callback")), "{seen:?}");
}

#[test]
fn errors_say_what_was_expected() {
    let error = Mesh::plan(6, &MeshParams::new().ep(4)).err().unwrap();
    assert!(matches!(error, Error::MeshSize(_)));
    assert_eq!(error.status(), sys::MOEMESH_ERROR_MESH_SIZE);
    assert!(!error.is_fatal());
    assert!(error.message().contains('6'), "{error}");
    assert_eq!(error.description(), "the axis sizes do not factor");
    let boxed: Box<dyn std::error::Error + Send + Sync> = error.into();
    assert!(boxed.to_string().starts_with("MOEMESH_ERROR_MESH_SIZE"), "{boxed}");
    // Every status of the list has a variant of its own.
    let mut names = std::collections::HashSet::new();
    for (_, value, _) in sys::STATUS_LIST.iter().filter(|row| row.1 != 0) {
        let status = Error::from_status(*value);
        assert_eq!(status.status(), *value);
        assert!(!matches!(status, Error::Unknown { .. }));
        assert_eq!(status.is_fatal(), *value < 0);
        assert!(names.insert(std::mem::discriminant(&status)));
    }
    assert!(matches!(Error::from_status(999), Error::Unknown { status: 999, .. }));
}

/// None is cut at it, or taken as no text at all.
#[test]
fn texts_with_a_nul_are_refused() {
    fn refused<T>(what: &str, result: Result<T>) {
        let error = result.err().expect(what);
        assert!(matches!(error, Error::InvalidArgument(_)), "{error:?}");
        let expected = format!(r#"{what}: expected no NUL, got one at byte 1 of "a\0b""#);
        assert_eq!(error.message(), expected);
    }
    let text = "a\0b";
    let context = alone();
    refused("order", Mesh::new(&context, &MeshParams::new().order(text)));
    refused("order", Mesh::plan(4, &MeshParams::new().order(text)));
    let mesh = Mesh::new(&context, &MeshParams::new()).unwrap();
    let (shared, expert) = families(&mesh).unwrap();
    refused("name", Layer::new(&mesh, &shared, &expert, &layer_params().name(text)));
    refused("name", shared.register(&ParameterParams::new().name(text).extents(&[2])));
    refused("name", shared.find(text));
    let bill = Bill::new(&mesh, &BillParams::new()).unwrap();
    refused("name", bill.add_layer(0, &layer_params().name(text), None));
    refused("name", bill.add_parameter(0, FamilyKind::Shared, &ParameterParams::new().name(text)));
    let report = Report::new(&mesh, &ReportParams::new()).unwrap();
    refused("name", report.mark(text, || panic!("a span without a name")));
    refused("path", report.write(ReportOutput::Table, None, std::path::Path::new(text)));
    // What was refused left nothing behind.
    Layer::new(&mesh, &shared, &expert, &layer_params().name("ab")).unwrap();
}

/// Whatever number an error holds, it is one: its action fails the step.
#[test]
fn an_error_of_status_0_is_a_failure() {
    let model = Model::alone().unwrap();
    let mut pipeline =
        Pipeline::<f32>::new(&model.mesh, Some(&model.optimizer), &PipelineParams::new().width(2)).unwrap();
    for fails in [true, false] {
        let step = model.optimizer.begin(&StepParams::new()).unwrap();
        let result = || if fails { Err(Error::from_status(0)) } else { Ok(()) };
        pipeline.train(&step, Some(&[1])).unwrap().execute(|_| result()).unwrap();
        let x = [1f32; HIDDEN];
        model.run(&step, &x, &x).unwrap();
        let finished = step.finish();
        assert_eq!(matches!(finished, Err(Error::StepFailed(_))), fails, "{finished:?}");
        let run = pipeline.infer(1, Some(&[1])).unwrap().execute(|_| result());
        assert_eq!(matches!(run, Err(Error::StepFailed(_))), fails, "{run:?}");
    }
}

#[test]
fn a_planned_mesh_answers_for_every_rank() {
    let mesh = Mesh::plan(512, &MeshParams::new().tp(8).ep(8).dp(8).ranks_per_node(8)).unwrap();
    let place = mesh.coordinates(77).unwrap();
    assert_eq!((place.tp, place.ep, place.pp, place.dp), (5, 1, 0, 1));
    assert_eq!(mesh.group(Axes::SHARED_GRADIENT, 77).unwrap().size, 64);
    assert_eq!(mesh.group(Axes::EP | Axes::DP, 77).unwrap().size, 64);
    assert_eq!(mesh.group_member(Axes::TP, 77, 0).unwrap(), 72);
    assert_eq!(mesh.axis_report(Axes::EP).unwrap().stride, 8);
    assert_eq!(mesh.experts(20, 77).unwrap(), 3..6);
    let mut sum = [1f32];
    let sum = &mut ViewMut::new(&mut sum, &[1]).unwrap();
    assert!(matches!(mesh.all_reduce(Axes::WORLD, ReduceOp::Sum, sum), Err(Error::InvalidState(_))));
    // The line of the README.
    let bill = Bill::new(
        &mesh,
        &BillParams::new()
            .tokens(4096)
            .microbatches(2)
            .steps(3)
            .shared_dtype(Dtype::Bfloat16)
            .expert_dtype(Dtype::Bfloat16),
    )
    .unwrap();
    let layer = LayerParams::new().name("moe").hidden(1024).ffn(4096).experts(64).top_k(2);
    bill.add_layer(0, &layer, None).unwrap();
    let entries = bill.entries(0).unwrap();
    let found = entries.iter().find(|entry| {
        entry.axes == Axes::EXPERT_EXCHANGE.raw()
            && entry.phase == Phase::Forward.raw()
            && entry.collective == Collective::AllToAll.raw()
    });
    let found = found.unwrap();
    assert_eq!((found.calls, found.messages, found.bytes, found.bytes_internode), (12, 84, 166_718_123, 166_718_123));
    let one = BillRouting { copies: &[1], rows: &[1] };
    assert!(matches!(bill.add_layer(0, &layer.clone().name("b"), Some(one)), Err(Error::InvalidArgument(_))));
}

#[test]
fn bfloat16_rows_and_a_selection_bias() {
    let context = alone();
    let mesh = Mesh::new(&context, &MeshParams::new()).unwrap();
    let family = |kind| Family::new(&mesh, &FamilyParams::new().kind(kind).dtype(Dtype::Bfloat16)).unwrap();
    let (shared, expert) = (family(FamilyKind::Shared), family(FamilyKind::Expert));
    let layer = Layer::new(&mesh, &shared, &expert, &layer_params().top_k(1)).unwrap();
    shared.commit().unwrap();
    expert.commit().unwrap();
    assert_eq!(layer.bias().unwrap(), [0.0; EXPERTS]);
    layer.set_bias(&[0.0, 0.0, 100.0, 0.0]).unwrap();
    assert_eq!(layer.bias().unwrap(), [0.0, 0.0, 100.0, 0.0]);
    let optimizer = Optimizer::new(&mesh, Some(&shared), Some(&expert), &OptimizerParams::new()).unwrap();
    let x: Vec<Bf16> = numbers(1, 3 * HIDDEN).into_iter().map(Bf16::from).collect();
    let mut y = vec![Bf16::default(); x.len()];
    let step = optimizer.begin(&StepParams::new()).unwrap();
    let shape = [3, HIDDEN];
    let forward = || View::new(&x, &shape).unwrap();
    drop(layer.forward(&step, Forward::new(forward(), ViewMut::new(&mut y, &shape).unwrap())).unwrap());
    assert_eq!(layer.rows().unwrap().0, [0, 0, 3, 0]);
    assert!(y.iter().all(|v| f32::from(*v).is_finite()));
    assert!(matches!(layer.set_bias(&[0.0; EXPERTS]), Err(Error::InvalidState(_))));
    let mut single = vec![0f32; x.len()];
    let mixed = layer.infer(Forward::new(forward(), ViewMut::new(&mut single, &shape).unwrap()));
    assert!(matches!(mixed, Err(Error::InvalidArgument(_))));
}

#[test]
fn rows_apart_and_masked_tokens() {
    let model = Model::alone().unwrap();
    let dense = numbers(1, 3 * HIDDEN);
    let mut apart = vec![f32::NAN; 3 * (HIDDEN + 2)];
    for (row, from) in apart.chunks_mut(HIDDEN + 2).zip(dense.chunks(HIDDEN)) {
        row[..HIDDEN].copy_from_slice(from);
    }
    let (shape, strides) = ([3, HIDDEN], [HIDDEN + 2, 1]);
    let (mut y, mut z) = (vec![0f32; 3 * HIDDEN], vec![-777f32; apart.len()]);
    let arrays = Forward::new(View::new(&dense, &shape).unwrap(), ViewMut::new(&mut y, &shape).unwrap());
    model.layer.infer(arrays).unwrap();
    let mask = [1u8, 0, 1];
    let arrays = Forward::new(
        View::strided(&apart, &shape, &strides).unwrap(),
        ViewMut::strided(&mut z, &shape, &strides).unwrap(),
    );
    model.layer.infer(arrays.mask(View::new(&mask, &[3]).unwrap())).unwrap();
    for (t, row) in z.chunks(HIDDEN + 2).enumerate() {
        let expected = if mask[t] == 1 { &y[t * HIDDEN..(t + 1) * HIDDEN] } else { &[0f32; HIDDEN] };
        assert_close(&wide(&row[..HIDDEN]), &wide(expected), "a row");
        assert_eq!(row[HIDDEN..], [-777.0; 2]);
    }
    let load = model.layer.balanced_load(100).unwrap();
    assert_eq!(load.rows_sent, 200);
    let (most, least) =
        (model.layer.plan_bytes(&load, None).unwrap(), model.layer.plan_bytes(&load, Some(Recompute::Full)).unwrap());
    assert!(least.total < most.total);
}

#[test]
fn the_library_is_there() {
    assert_eq!(version().0, sys::MOEMESH_VERSION_MAJOR as i32);
    let info = alone().info().unwrap();
    assert_eq!((info.rank, info.size), (0, 1));
    let running = runtime_info().unwrap();
    assert!(running.library.contains("libmoemesh.so") && running.threads >= 1, "{running:?}");
}
