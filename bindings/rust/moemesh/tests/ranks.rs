// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! What several ranks show: to be run by mpirun on 1, 2 or 4 ranks, each check on all of them, one after the other.
//! An argument picks the checks whose name contains it.

mod common;

use common::*;
use moemesh::*;

type Check = (&'static str, fn() -> Result<()>);

macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        const CHECKS: &[Check] = &[$((stringify!($name), $name)),*];
    };
}
checks![
    a_layer_equals_its_dense_computation_on_every_mesh,
    a_trained_model_is_the_same_on_every_rank,
    the_callers_collectives,
    the_bill_is_the_ledger,
    rows_go_through_the_stages,
    a_failing_action_fails_the_step_everywhere,
    a_report_of_a_step,
    ranks_that_differ_are_told,
    a_bad_row_is_told_to_all,
    values_borrowed_on_one_rank_drop_the_step_on_all,
    p43_everything_is_dropped_in_the_wrong_order,
    a_thread_of_ones_own_needs_thread_multiple,
];

fn main() {
    let filter = std::env::args().nth(1).filter(|name| !name.starts_with('-'));
    let mut ran = 0;
    for (name, check) in CHECKS.iter().filter(|(name, _)| filter.as_ref().is_none_or(|part| name.contains(part))) {
        // A rank that fails must not leave the others waiting: mpirun ends them.
        if let Err(error) = check() {
            eprintln!("ranks: {name}: {error}");
            std::process::exit(1);
        }
        ran += 1;
    }
    let rank = world().and_then(|context| context.info()).map(|info| info.rank);
    shutdown().unwrap();
    assert!(ran > 0, "no check of that name");
    if rank == Ok(0) {
        println!("ranks: {ran} checks passed");
    }
}

fn params() -> ContextParams<'static> {
    ContextParams::new().comm(Comm::WORLD).mpi_init(true).timeout_seconds(60.0)
}

fn world() -> Result<Context> {
    Context::new(params())
}

/// Meshes of this many ranks: tp, ep, dp.
fn meshes(ranks: i64) -> Vec<MeshParams> {
    let cuts: &[(i32, i32, i32)] = match ranks {
        1 => &[(1, 1, 1)],
        2 => &[(1, 2, 1), (1, 1, 2), (2, 1, 1)],
        _ => &[(1, 4, 1), (1, 2, 2), (2, 2, 1)],
    };
    cuts.iter().map(|(tp, ep, dp)| MeshParams::new().tp(*tp).ep(*ep).dp(*dp)).collect()
}

/// Of a data shard; shards have different numbers of tokens.
fn tokens_of(shard: i64) -> (Vec<f32>, Vec<f32>) {
    let count = (5 + 2 * shard as usize) * HIDDEN;
    (numbers(10 + shard as u64, count), numbers(20 + shard as u64, count))
}

fn a_layer_equals_its_dense_computation_on_every_mesh() -> Result<()> {
    let ranks = world()?.info()?.size;
    for mesh in meshes(ranks) {
        let model = Model::new(world()?, &mesh, &layer_params(), &OptimizerParams::new())?;
        let rank = model.context.info()?.rank;
        let dense = Dense::read(&model, Quantity::Value)?;
        let shards = model.mesh.group(Axes::SHARED_GRADIENT, rank)?.size;
        let own = model.mesh.coordinates(rank)?.data_shard;
        let (x, dy) = tokens_of(own);
        let step = model.optimizer.begin(&StepParams::new())?;
        let (y, dx) = model.run(&step, &x, &dy)?;
        step.end(true)?;
        let mut gradients = dense.zeros();
        for shard in 0..shards {
            let (x, dy) = tokens_of(shard);
            let expected = dense.run(&x, &dy, &mut gradients);
            if shard == own {
                assert_close(&wide(&y), &expected.0, "y");
                assert_close(&wide(&dx), &expected.1, "dx");
            }
        }
        gradients.scale(1.0 / shards as f64);
        // At stage 1 a rank has the reduced gradient of what it owns: read gives the whole.
        Dense::read(&model, Quantity::Gradient)?.assert_close(&gradients, "gradient");
        model.finalize()?;
    }
    Ok(())
}

fn a_trained_model_is_the_same_on_every_rank() -> Result<()> {
    let ranks = world()?.info()?.size;
    let mut first: Option<Vec<f64>> = None;
    // The same data whatever the mesh: four shards' worth of tokens, which ranks share.
    for mesh in meshes(ranks) {
        let rules = OptimizerParams::new().kind(OptimizerKind::Sgd).learning_rate(0.1).max_norm(1.0);
        let model = Model::new(world()?, &mesh, &layer_params().bias_rate(0.01), &rules)?;
        let rank = model.context.info()?.rank;
        let shards = model.mesh.group(Axes::SHARED_GRADIENT, rank)?.size;
        let microbatches = 4 / shards;
        let own = model.mesh.coordinates(rank)?.data_shard;
        for _ in 0..3 {
            let step = model.optimizer.begin(&StepParams::new().microbatches(microbatches as i32))?;
            for microbatch in 0..microbatches {
                let seed = (own * microbatches + microbatch) as u64;
                let (x, dy) = (numbers(30 + seed, 8 * HIDDEN), numbers(40 + seed, 8 * HIDDEN));
                let shape = [8, HIDDEN];
                let (mut y, mut dx) = (vec![0f32; x.len()], vec![0f32; x.len()]);
                let arrays = Forward::new(View::new(&x, &shape)?, ViewMut::new(&mut y, &shape)?);
                let tape = model.layer.forward(&step, arrays.microbatch(microbatch as i32))?;
                tape.backward(&step, Backward::new(View::new(&dy, &shape)?, ViewMut::new(&mut dx, &shape)?))?;
            }
            assert!(step.finish()?.norm > 0.0);
        }
        let dense = Dense::read(&model, Quantity::Value)?;
        let all: Vec<f64> = dense.experts.iter().flatten().flatten().chain(&dense.router).copied().collect();
        match &first {
            Some(first) => assert_close(&all, first, "weights of another mesh"),
            None => first = Some(all),
        }
        assert!(model.layer.bias()?.iter().any(|bias| *bias != 0.0));
        model.finalize()?;
    }
    Ok(())
}

fn the_callers_collectives() -> Result<()> {
    let context = world()?;
    let info = context.info()?;
    let (rank, size) = (info.rank as f32, info.size as usize);
    let mesh = Mesh::new(&context, &MeshParams::new().dp(size as i32))?;
    let mut sum = [rank + 1.0, 2.0 * rank];
    mesh.all_reduce(Axes::WORLD, ReduceOp::Sum, &mut ViewMut::new(&mut sum, &[2])?)?;
    let triangle = (size * (size - 1) / 2) as f32;
    assert_eq!(sum, [triangle + size as f32, 2.0 * triangle]);
    let mut most = [info.rank];
    mesh.all_reduce(Axes::DP, ReduceOp::Max, &mut ViewMut::new(&mut most, &[1])?)?;
    assert_eq!(most, [info.size - 1]);

    let mut all = vec![-1.0f32; 2 * size];
    mesh.all_gather(Axes::WORLD, View::new(&[rank, -rank], &[2])?, &mut ViewMut::new(&mut all, &[size, 2])?)?;
    assert!(all.chunks(2).enumerate().all(|(p, pair)| pair == [p as f32, -(p as f32)]));
    let mut part = [0f32; 1];
    let ones: Vec<f32> = (0..size).map(|p| p as f32).collect();
    mesh.reduce_scatter(Axes::WORLD, ReduceOp::Sum, View::new(&ones, &[size])?, &mut ViewMut::new(&mut part, &[1])?)?;
    assert_eq!(part, [rank * size as f32]);
    let mut word = [info.rank as i32; 3];
    mesh.broadcast(Axes::WORLD, size as i64 - 1, &mut ViewMut::new(&mut word, &[3])?)?;
    assert_eq!(word, [size as i32 - 1; 3]);
    // A length that differs between ranks is an error on all of them.
    if size > 1 {
        let mut odd = vec![0f32; 1 + usize::from(info.rank == 0)];
        let length = odd.len();
        let found = mesh.all_reduce(Axes::WORLD, ReduceOp::Sum, &mut ViewMut::new(&mut odd, &[length])?);
        assert!(matches!(found, Err(Error::Mismatch(_))), "{found:?}");
    }
    mesh.finalize()?;
    context.finalize()
}

fn the_bill_is_the_ledger() -> Result<()> {
    let ranks = world()?.info()?.size;
    for cut in meshes(ranks) {
        // Every token goes to every expert: the even routing of a bill is the real one.
        let layer = layer_params().top_k(EXPERTS as i32);
        let model = Model::new(world()?, &cut, &layer, &OptimizerParams::new())?;
        let rank = model.context.info()?.rank;
        model.mesh.reset_ledger()?;
        let x = numbers(1, 8 * HIDDEN);
        let step = model.optimizer.begin(&StepParams::new())?;
        model.run(&step, &x, &x)?;
        step.finish()?;
        let bill = Bill::new(&Mesh::plan(ranks, &cut)?, &BillParams::new().tokens(8))?;
        bill.add_layer(0, &layer, None)?;
        let numbers = |entry: &LedgerEntry| {
            [entry.axes, entry.family, entry.phase, entry.collective]
                .map(i64::from)
                .into_iter()
                .chain([entry.calls, entry.messages, entry.bytes])
                .collect::<Vec<_>>()
        };
        let told: Vec<_> = bill.entries(rank)?.iter().map(numbers).collect();
        let found: Vec<_> = model.mesh.ledger()?.iter().map(numbers).collect();
        assert_eq!(told, found);
        assert_eq!(found.is_empty(), ranks == 1);
        model.finalize()?;
    }
    Ok(())
}

const WIDTH: usize = 3;

/// Each stage doubles, the last one's loss is the sum: all gradients are powers of two.
fn double(action: &mut Action<'_, f32>, seen: &mut Vec<f32>) -> Result<()> {
    let own: Vec<f32> = (0..action.rows * WIDTH).map(|i| (i + 1) as f32 + 100.0 * action.microbatch as f32).collect();
    let input = match action.kind {
        ActionKind::Forward => action.input().unwrap_or(&own).to_vec(),
        _ => action.input().map_or(vec![1.0; own.len()], <[f32]>::to_vec),
    };
    let result: Vec<f32> = input.iter().map(|v| 2.0 * v).collect();
    match action.output() {
        Some(output) => output.copy_from_slice(&result),
        None => seen.extend(&result),
    }
    if action.kind == ActionKind::Backward {
        let views = action.views();
        assert_eq!(views.saved.is_some(), views.output.is_some());
        // What was kept of the forward is not what is written now.
        if let (Some(saved), Some(output)) = (views.saved, views.output) {
            assert_eq!((saved.len(), &output[..]), (result.len(), &result[..]));
        }
        assert_eq!(action.saved().is_some(), action.output().is_some());
    }
    Ok(())
}

fn pipeline(stages: i64) -> Result<(Model, Pipeline<f32>)> {
    let model = Model::new(world()?, &MeshParams::new().pp(stages as i32), &layer_params(), &OptimizerParams::new())?;
    let params = PipelineParams::new().width(WIDTH as i64);
    let pipeline = Pipeline::new(&model.mesh, Some(&model.optimizer), &params)?;
    Ok((model, pipeline))
}

fn rows_go_through_the_stages() -> Result<()> {
    let stages = world()?.info()?.size;
    let (model, mut pipeline) = pipeline(stages)?;
    let stage = model.context.info()?.rank;
    let rows = [2i64, 0, 1];
    let given = (stage == 0).then_some(&rows[..]);
    let factor = (1i64 << stages) as f32;
    let own = |m: usize| (0..rows[m] as usize * WIDTH).map(move |i| ((i + 1) as f32 + 100.0 * m as f32) * factor);

    let step = model.optimizer.begin(&StepParams::new().microbatches(3))?;
    let (mut ends, mut kinds) = (Vec::new(), Vec::new());
    let mut run = pipeline.train(&step, given)?;
    while let Some(mut action) = run.next()? {
        kinds.push(action.kind);
        let result = double(&mut action, &mut ends);
        action.done(result)?;
    }
    step.finish()?;
    assert_eq!(kinds.iter().filter(|kind| **kind == ActionKind::Forward).count(), 3);
    assert_eq!(kinds.len(), 6);
    let gradients = || rows.iter().flat_map(|rows| vec![factor; *rows as usize * WIDTH]);
    let mut expected: Vec<f32> = Vec::new();
    if stage == stages - 1 && stage == 0 {
        // One stage: forward and backward of a microbatch in turn.
        (0..3).for_each(|m| expected.extend(own(m).chain(vec![2.0; rows[m] as usize * WIDTH])));
    } else if stage == stages - 1 {
        (0..3).for_each(|m| expected.extend(own(m)));
    } else if stage == 0 {
        expected.extend(gradients());
    }
    assert_eq!(ends, expected);
    assert!(pipeline.info()?.peak <= 3);

    ends.clear();
    pipeline.infer(3, given)?.execute(|action| double(action, &mut ends))?;
    let expected: Vec<f32> = if stage == stages - 1 { (0..3).flat_map(own).collect() } else { Vec::new() };
    assert_eq!(ends, expected);
    drop(pipeline);
    model.finalize()
}

fn a_failing_action_fails_the_step_everywhere() -> Result<()> {
    let stages = world()?.info()?.size;
    let (model, mut pipeline) = pipeline(stages)?;
    let stage = model.context.info()?.rank;
    let rows = [1i64, 1];
    for attempt in 0..2 {
        let step = model.optimizer.begin(&StepParams::new().microbatches(2))?;
        pipeline.train(&step, Some(&rows))?.execute(|action| {
            double(action, &mut Vec::new())?;
            let fails = attempt == 0 && stage == 0 && action.microbatch == 1;
            if fails { Err(Error::NotFound("the data's end".into())) } else { Ok(()) }
        })?;
        let result = step.finish();
        assert_eq!(matches!(result, Err(Error::StepFailed(_))), attempt == 0, "{result:?}");
    }
    // Another optimizer's step does not keep this run's arrays.
    let other = Model::alone()?;
    let foreign = other.optimizer.begin(&StepParams::new())?;
    assert!(matches!(pipeline.train(&foreign, Some(&rows)).err(), Some(Error::InvalidState(_))));
    // A run that is left in its middle: the step can't be finished, the next one can.
    let step = model.optimizer.begin(&StepParams::new().microbatches(2))?;
    let mut run = pipeline.train(&step, Some(&rows))?;
    if stage == 0 {
        run.next()?;
    }
    let result = step.finish();
    assert!(matches!(result, Err(Error::StepFailed(_))), "{result:?}");
    let step = model.optimizer.begin(&StepParams::new().microbatches(2))?;
    pipeline.train(&step, Some(&rows))?.execute(|action| double(action, &mut Vec::new()))?;
    step.finish()?;
    drop(pipeline);
    model.finalize()
}

fn a_report_of_a_step() -> Result<()> {
    let ranks = world()?.info()?.size;
    let ticks = std::sync::atomic::AtomicI64::new(0);
    let clock = move || 1000 * ticks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let context = Context::new(params().clock(clock))?;
    let mesh = MeshParams::new().ep(ranks as i32);
    let model = Model::new(context, &mesh, &layer_params(), &OptimizerParams::new())?;
    let rank = model.context.info()?.rank;
    let report = Report::new(&model.mesh, &ReportParams::new().steps(10))?;
    assert!(matches!(report.summary(), Err(Error::InvalidState(_))));
    let x = numbers(1, 8 * HIDDEN);
    for _ in 0..2 {
        let step = model.optimizer.begin(&StepParams::new())?;
        report.mark("my own work", || model.run(&step, &x, &x))??;
        step.finish()?;
    }
    report.stop()?;
    report.collect()?;
    let summary = report.summary()?;
    assert_eq!((summary.steps, summary.layers), (2, 1));
    assert!(summary.seconds > 0.0);
    let layer = report.layer(0)?;
    assert_eq!(layer.name, "moe");
    assert_eq!(layer.figures.rows, (2 * 8 * TOP_K as i64 * ranks) as f64);
    assert!(report.step(1)?.seconds > 0.0);
    assert!(matches!(report.step(2), Err(Error::InvalidArgument(_))));
    let path = std::env::temp_dir().join(format!("moemesh-rust-{}", std::os::unix::process::parent_id()));
    report.write(ReportOutput::Trace, None, &path)?;
    if rank == 0 {
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("my own work"));
        std::fs::remove_file(&path).unwrap();
    }
    let bad = report.write(ReportOutput::Table, None, std::path::Path::new("/nowhere/at/all"));
    assert!(matches!(bad, Err(Error::File(_))), "{bad:?}");
    drop(report);
    model.finalize()
}

fn ranks_that_differ_are_told() -> Result<()> {
    let context = world()?;
    let info = context.info()?;
    let mesh = Mesh::new(&context, &MeshParams::new().dp(info.size as i32))?;
    let seed = info.rank.min(1);
    let family = Family::new(&mesh, &FamilyParams::new().kind(FamilyKind::Shared).seed(seed));
    match family {
        Err(error) => assert!(matches!(error, Error::Mismatch(_)) && info.size > 1, "{error}"),
        Ok(_) => assert_eq!(info.size, 1),
    }
    mesh.finalize()?;
    context.finalize()
}

fn a_bad_row_is_told_to_all() -> Result<()> {
    let ranks = world()?.info()?.size;
    let model = Model::new(world()?, &MeshParams::new().ep(ranks as i32), &layer_params(), &OptimizerParams::new())?;
    let rank = model.context.info()?.rank;
    let (mut x, dy) = (numbers(1, 2 * HIDDEN), numbers(2, 2 * HIDDEN));
    let step = model.optimizer.begin(&StepParams::new())?;
    if rank == 0 {
        x[3] = f32::NAN;
    }
    let error = model.run(&step, &x, &dy).unwrap_err();
    assert!(matches!(error, Error::NonfiniteRouter(_)), "{error}");
    let result = step.finish();
    assert_eq!(result.is_err(), ranks > 1, "{result:?}");
    let step = model.optimizer.begin(&StepParams::new())?;
    x[3] = 0.0;
    model.run(&step, &x, &dy)?;
    step.finish()?;
    model.finalize()
}

fn values_borrowed_on_one_rank_drop_the_step_on_all() -> Result<()> {
    let ranks = world()?.info()?.size;
    let model = Model::new(world()?, &MeshParams::new().ep(ranks as i32), &layer_params(), &OptimizerParams::new())?;
    let rank = model.context.info()?.rank;
    let (x, dy) = (numbers(1, 2 * HIDDEN), numbers(2, 2 * HIDDEN));
    let router = model.shared.find("moe.router")?;
    let before = router.acquire::<f32>()?.to_vec();
    {
        let _values = if rank == 0 { Some(router.acquire::<f32>()?) } else { None };
        let step = model.optimizer.begin(&StepParams::new())?;
        model.run(&step, &x, &dy)?;
        assert!(step.finish().is_err());
    }
    assert_eq!(*router.acquire::<f32>()?, before);
    let step = model.optimizer.begin(&StepParams::new())?;
    model.run(&step, &x, &dy)?;
    step.finish()?;
    assert_ne!(*router.acquire::<f32>()?, before);
    model.finalize()
}

fn p43_everything_is_dropped_in_the_wrong_order() -> Result<()> {
    let ranks = world()?.info()?.size;
    let Model { context, mesh, shared, expert, layer, optimizer } =
        Model::new(world()?, &MeshParams::new().ep(ranks as i32), &layer_params(), &OptimizerParams::new())?;
    drop(context);
    drop((shared, expert));
    let (x, mut y, shape) = (numbers(1, 2 * HIDDEN), vec![0f32; 2 * HIDDEN], [2, HIDDEN]);
    let step = optimizer.begin(&StepParams::new())?;
    let tape = layer.forward(&step, Forward::new(View::new(&x, &shape)?, ViewMut::new(&mut y, &shape)?))?;
    mesh.finalize()?;
    // Only dropping is left.
    let mut dx = vec![0f32; x.len()];
    let arrays = Backward::new(View::new(&y, &shape)?, ViewMut::new(&mut dx, &shape)?);
    assert!(matches!(tape.backward(&step, arrays), Err(Error::InvalidState(_))));
    drop(optimizer);
    drop(step);
    drop(layer);
    Ok(())
}

/// Below MPI_THREAD_MULTIPLE a context stays on its thread.
fn a_thread_of_ones_own_needs_thread_multiple() -> Result<()> {
    let elsewhere = |context: Context| {
        let there = std::thread::spawn(move || (context.info().err(), context));
        there.join().unwrap()
    };
    let (error, context) = elsewhere(world()?);
    if context.info()?.progress == Progress::Thread.raw() {
        assert_eq!(error, None);
    } else {
        assert!(matches!(error, Some(Error::MpiThreadLevel(_))), "{error:?}");
    }
    let (error, context) = elsewhere(Context::new(params().progress(Progress::Calls))?);
    assert!(matches!(error, Some(Error::MpiThreadLevel(_))), "{error:?}");
    assert_eq!(context.info()?.progress, Progress::Calls.raw());
    Ok(())
}
