// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! candle_lm [STEPS [FILE...]]: checks the MoE layer against candle's own computation of it, then trains a byte-level language
//! model whose attention is candle's and whose MoE layers are moemesh's. Under mpirun the ranks share the experts:
//! `mpirun -n 2 candle_lm`.

mod check;
mod corpus;
mod model;
mod moe;

use candle_core::Result;
use moemesh::{Comm, Context, ContextParams};

use corpus::Corpus;
use model::{Model, WINDOW, error};

const BATCH: usize = 8;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let steps: u64 = arguments.first().map_or(Ok(100), |text| text.parse()).map_err(candle_core::Error::wrap)?;
    let corpus = Corpus::load(arguments.get(1..).unwrap_or_default())?;
    let params = ContextParams::new().comm(Comm::WORLD).mpi_init(true).timeout_seconds(120.0);
    let context = Context::new(params).map_err(error)?;
    // On an error of this rank's alone the others end at the deadline, or with this rank by mpirun.
    check::run(&context)?;
    train(&context, &corpus, steps)?;
    context.finalize().map_err(error)?;
    moemesh::shutdown().map_err(error)
}

fn train(context: &Context, corpus: &Corpus, steps: u64) -> Result<()> {
    let info = context.info().map_err(error)?;
    let model = Model::new(context, 3e-3)?;
    let before = held_out(&model, corpus, info.rank, info.size)?;
    for step in 0..steps {
        let number = |i: usize| ((step * info.size as u64 + info.rank as u64) * BATCH as u64) + i as u64;
        let windows: Vec<&[u8]> = (0..BATCH).map(|i| corpus.window(number(i), WINDOW)).collect();
        let (loss, result) = model.train(&windows)?;
        let loss = model.mean(f64::from(loss))?;
        if info.rank == 0 && (step == 0 || (step + 1) % 20 == 0) {
            println!("step {:4}  loss {loss:.4}  norm {:.3}", step + 1, result.norm);
        }
    }
    let after = held_out(&model, corpus, info.rank, info.size)?;
    model.finalize()?;
    if info.rank == 0 {
        println!("held out, nats a byte: {before:.4} before, {after:.4} after {steps} steps on {} ranks", info.size);
    }
    if steps >= 100 && after > 0.6 * before {
        candle_core::bail!("the loss did not fall: {before} before, {after} after");
    }
    Ok(())
}

/// The mean over the held-out blocks; ranks take them in turn, all of them equally many.
fn held_out(model: &Model, corpus: &Corpus, rank: i64, size: i64) -> Result<f64> {
    let (rank, size) = (rank as usize, size as usize);
    let rounds = corpus.held_out.len() / size;
    let mut sum = 0.0;
    for round in 0..rounds {
        let block = &corpus.held_out[round * size + rank];
        let windows: Vec<&[u8]> = block.windows(WINDOW + 1).step_by(WINDOW).collect();
        sum += f64::from(model.loss(&windows)?.to_scalar::<f32>()?);
    }
    model.mean(sum / rounds as f64)
}
