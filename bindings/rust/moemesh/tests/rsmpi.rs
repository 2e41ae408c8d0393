// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Communicators of the crate `mpi`; to be run by mpirun. The argument `funneled` starts MPI at that level.

mod common;

use common::*;
use moemesh::*;
use mpi::Threading;
use mpi::topology::{Color, Communicator};

fn train(context: Context) -> Result<Model> {
    let mesh = MeshParams::new().ep(context.info()?.size as i32);
    let model = Model::new(context, &mesh, &layer_params(), &OptimizerParams::new())?;
    let (x, dy) = (numbers(1, 4 * HIDDEN), numbers(2, 4 * HIDDEN));
    let step = model.optimizer.begin(&StepParams::new())?;
    model.run(&step, &x, &dy)?;
    step.finish()?;
    Ok(model)
}

fn params(comm: Comm<'_>) -> ContextParams<'_> {
    ContextParams::new().comm(comm).timeout_seconds(60.0)
}

fn main() {
    let level =
        if std::env::args().nth(1).as_deref() == Some("funneled") { Threading::Funneled } else { Threading::Multiple };
    let (universe, found) = mpi::initialize_with_threading(level).unwrap();
    let world = universe.world();

    let context = Context::new(params(Comm::from_communicator(&world).unwrap())).unwrap();
    let info = context.info().unwrap();
    assert_eq!((info.rank, info.size), (world.rank().into(), world.size().into()));
    assert_eq!(info.progress == Progress::Thread.raw(), found == Threading::Multiple);
    train(context).unwrap().finalize().unwrap();

    // A part of the world, whose communicator goes before its context.
    let half = world.split_by_color(Color::with_value(world.rank() % 2)).unwrap();
    let context = Context::new(params(Comm::from_communicator(&half).unwrap())).unwrap();
    assert_eq!(context.info().unwrap().size, half.size().into());
    drop(half);
    let half = train(context).unwrap();
    let mut sum = [1f64];
    half.mesh.all_reduce(Axes::WORLD, ReduceOp::Sum, &mut ViewMut::new(&mut sum, &[1]).unwrap()).unwrap();
    assert_eq!(sum[0] as i64, half.context.info().unwrap().size);
    half.finalize().unwrap();

    // Below MPI_THREAD_MULTIPLE what is dropped on another thread is leaked, not used there: everything goes on.
    let elsewhere = train(Context::new(params(Comm::from_communicator(&world).unwrap())).unwrap()).unwrap();
    if found == Threading::Multiple {
        elsewhere.finalize().unwrap();
    } else {
        std::thread::spawn(move || drop(elsewhere)).join().unwrap();
    }

    // P43b: MPI is finalized before what was made with it is dropped, without having been finalized.
    let left = train(Context::new(params(Comm::from_communicator(&world).unwrap())).unwrap()).unwrap();
    let rank = world.rank();
    drop(universe);
    let mut sum = [1f64];
    let late = left.mesh.all_reduce(Axes::STAGE, ReduceOp::Sum, &mut ViewMut::new(&mut sum, &[1]).unwrap());
    if info.size > 1 {
        assert!(late.is_err());
    }
    drop(left);
    let again = Context::new(ContextParams::new().comm(Comm::WORLD));
    assert!(matches!(again, Err(Error::MpiFinalized(_))));
    if rank == 0 {
        println!("rsmpi: passed, {found:?}");
    }
}
