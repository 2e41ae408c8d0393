// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A mixture-of-experts layer learns a function of 64 tokens: 8 numbers each, 4 experts, 2 of them for a token. Alone, or with
//! the argument mpi as 1, 2 or 4 ranks of mpirun, over which tokens and experts are cut: the numbers are the same.
use moemesh::*;

const T: usize = 64;
const H: usize = 8;
const E: usize = 4;

fn main() -> Result<()> {
    let mpi = std::env::args().nth(1).is_some_and(|argument| argument.starts_with('m'));
    let alone = ContextParams::new();
    let context = Context::new(if mpi { alone.comm(Comm::WORLD).mpi_init(true) } else { alone })?;
    train(&context)?; // destroys what it made from the context
    context.finalize()?;
    shutdown()
}

fn train(context: &Context) -> Result<()> {
    let me = context.info()?;
    let mesh = Mesh::new(context, &MeshParams::new().ep(me.size as i32))?; // experts and tokens are split over all ranks
    let shared = Family::new(&mesh, &FamilyParams::new().kind(FamilyKind::Shared))?; // weights that all ranks have
    let expert = Family::new(&mesh, &FamilyParams::new().kind(FamilyKind::Expert))?;
    let params = LayerParams::new().name("moe").hidden(H as i64).ffn(16).experts(E as i64).top_k(2); // SwiGLU
    let params = params.init_std_router(0.4).init_std_in(0.4).init_std_out(0.4);
    let params = params.aux_coefficient(0.01).aux_scope(AuxScope::Sequence); // balances each of 4 sequences
    let layer = Layer::new(&mesh, &shared, &expert, &params)?;
    shared.commit()?;
    expert.commit()?;
    let adamw = OptimizerParams::new().learning_rate(0.02);
    let optimizer = Optimizer::new(&mesh, Some(&shared), Some(&expert), &adamw)?;

    let n = T / me.size as usize; // this rank's tokens
    let first = me.rank as usize * n;
    let number = |t: usize, h: usize| ((7 * t + (3 + t) * h) % 11) as f32;
    let x: Vec<f32> = (0..n * H).map(|i| (number(first + i / H, i % H) - 5.0) / 4.0).collect();
    let (mut y, mut dy, mut dx) = (vec![0f32; n * H], vec![0f32; n * H], vec![0f32; n * H]);
    let shape = [n, H];
    for step in 1..=40 {
        let open = optimizer.begin(&StepParams::new())?;
        let arrays = Forward::new(View::new(&x, &shape)?, ViewMut::new(&mut y, &shape)?);
        let tape = layer.forward(&open, arrays.sequences(4 / me.size, SequenceLayout::SequenceMajor))?;
        let mut loss = [0f64]; // mean of (y - target)^2; dy: the gradient of this rank's own mean
        for i in 0..n * H {
            let error = y[i] - x[i] * x[i ^ 7]; // target of h: x[h] * x[7 - h]
            loss[0] += f64::from(error) * f64::from(error) / (T * H) as f64;
            dy[i] = 2.0 * error / (n * H) as f32;
        }
        tape.backward(&open, Backward::new(View::new(&dy, &shape)?, ViewMut::new(&mut dx, &shape)?))?;
        open.finish()?;
        mesh.all_reduce(Axes::WORLD, ReduceOp::Sum, &mut ViewMut::new(&mut loss, &[1])?)?;
        if me.rank == 0 && (step == 1 || step % 10 == 0) {
            println!("step {step:2}  loss {:.6}", loss[0]);
        }
    }
    let (mut rows, _) = layer.rows()?;
    mesh.all_reduce(Axes::WORLD, ReduceOp::Sum, &mut ViewMut::new(&mut rows, &[E])?)?;
    if me.rank == 0 {
        println!("rows per expert{:4}{:4}{:4}{:4}", rows[0], rows[1], rows[2], rows[3]);
    }
    mesh.finalize()
}
