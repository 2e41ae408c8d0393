// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! The layer's output and all gradients against candle's own, dense computation of the same layer.

use candle_core::{D, Device, Result, Tensor, Var};
use candle_nn::ops::{silu, softmax};
use moemesh::{Context, Family, Quantity, StepParams};

use crate::model::{EXPERTS, HIDDEN, TOP_K, error, lone_layer};

const TOKENS: usize = 40;
const BOUND: f64 = 1e-5;

struct Weights {
    router: Var,
    experts: Vec<[Var; 3]>, // w1, wg, w2
}

fn read(family: &Family, name: &str, quantity: Quantity, expert: i64) -> Result<Tensor> {
    let parameter = family.find(name).map_err(error)?;
    let info = parameter.info().map_err(error)?;
    let (rows, columns) = (info.extents[0] as usize, info.extents[1] as usize);
    let mut values = vec![0f32; rows * columns];
    parameter.read(quantity, expert, &mut values).map_err(error)?;
    Tensor::from_vec(values, (rows, columns), &Device::Cpu)
}

/// Of all experts, wherever they are: router, then w1, wg and w2 of each expert.
fn read_all(shared: &Family, expert: &Family, quantity: Quantity) -> Result<Vec<Tensor>> {
    let mut all = vec![read(shared, "moe.router", quantity, 0)?];
    for e in 0..EXPERTS {
        for name in ["moe.w1", "moe.wg", "moe.w2"] {
            all.push(read(expert, name, quantity, e)?);
        }
    }
    Ok(all)
}

/// Every expert for every token, times its gate, which is 0 where it was not chosen.
fn dense(weights: &Weights, x: &Tensor) -> Result<Tensor> {
    let logits = x.matmul(&weights.router.t()?)?;
    let mut mask = vec![f32::NEG_INFINITY; x.dim(0)? * EXPERTS as usize];
    for (row, values) in mask.chunks_mut(EXPERTS as usize).zip(logits.to_vec2::<f32>()?) {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        order[..TOP_K as usize].iter().for_each(|e| row[*e] = 0.0);
    }
    let gates = softmax(&(&logits + Tensor::from_vec(mask, logits.shape(), &Device::Cpu)?)?, D::Minus1)?;
    let mut y = x.zeros_like()?;
    for (e, [w1, wg, w2]) in weights.experts.iter().enumerate() {
        let hidden = (silu(&x.matmul(&wg.t()?)?)? * x.matmul(&w1.t()?)?)?;
        y = (y + hidden.matmul(&w2.t()?)?.broadcast_mul(&gates.narrow(1, e, 1)?)?)?;
    }
    Ok(y)
}

fn numbers(seed: u64) -> Result<Tensor> {
    let mixed =
        |i: u64| (i.wrapping_add(seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    Tensor::from_vec((0..(TOKENS * HIDDEN) as u64).map(mixed).collect(), (TOKENS, HIDDEN), &Device::Cpu)
}

/// The largest difference over the largest value.
fn difference(found: &Tensor, expected: &Tensor) -> Result<f64> {
    let largest = |tensor: &Tensor| tensor.abs()?.flatten_all()?.max(0)?.to_scalar::<f32>();
    Ok(f64::from(largest(&(found - expected)?)?) / f64::from(largest(expected)?))
}

/// Prints each and fails where one is above the bound.
pub fn run(context: &Context) -> Result<()> {
    let info = context.info().map_err(error)?;
    let (mesh, shared, expert, optimizer, moe, open) = lone_layer(context).map_err(error)?;
    let mut values = read_all(&shared, &expert, Quantity::Value)?.into_iter();
    let mut next = || Var::from_tensor(&values.next().expect("a weight"));
    let weights = Weights {
        router: next()?,
        experts: (0..EXPERTS)
            .map(|_| Ok::<_, candle_core::Error>([next()?, next()?, next()?]))
            .collect::<Result<_>>()?,
    };

    let shard = |rank: i64| {
        Ok::<_, candle_core::Error>((Var::from_tensor(&numbers(2 * rank as u64)?)?, numbers(2 * rank as u64 + 1)?))
    };
    let (x, c) = shard(info.rank)?;
    *open.lock().unwrap() = Some(optimizer.begin(&StepParams::new()).map_err(error)?);
    let y = moe.forward(&x)?;
    let gradients = (&y * &c)?.sum_all()?.backward()?;
    let step = open.lock().unwrap().take().expect("the step that was put there");
    step.end(true).map_err(error)?;

    // The mean of all shards' losses, as moemesh's objective says; dx is of the shard's own loss.
    let mut total = Tensor::zeros((), candle_core::DType::F32, &Device::Cpu)?;
    let mut own = None;
    for rank in 0..info.size {
        let (x, c) = shard(rank)?;
        let y = dense(&weights, &x)?;
        total = (total + ((&y * &c)?.sum_all()? / info.size as f64)?)?;
        own = if rank == info.rank { Some((x, y)) } else { own };
    }
    let expected = total.backward()?;
    let (own_x, own_y) = own.expect("this rank's shard");
    let wanted = |variable: &Var| expected.get(variable).cloned().ok_or_else(|| candle_core::Error::msg("no gradient"));
    let dx = (wanted(&own_x)? * info.size as f64)?;
    let mut worst = vec![("y", difference(&y, &own_y)?)];
    worst.push(("dx", difference(gradients.get(&x).expect("dx"), &dx)?));
    let mut reduced = read_all(&shared, &expert, Quantity::Gradient)?.into_iter();
    let mut compare = |variable: &Var| difference(&reduced.next().expect("a gradient"), &wanted(variable)?);
    worst.push(("router", compare(&weights.router)?));
    let mut experts = [("w1", 0f64), ("wg", 0.0), ("w2", 0.0)];
    for expert in &weights.experts {
        for (variable, most) in expert.iter().zip(&mut experts) {
            most.1 = most.1.max(compare(variable)?);
        }
    }
    worst.extend(experts);
    mesh.finalize().map_err(error)?;
    for (name, value) in &worst {
        if info.rank == 0 {
            println!("moemesh against candle, {name:6} {value:.1e}");
        }
        if *value > BOUND || value.is_nan() {
            candle_core::bail!("{name} differs by {value:.1e} on rank {}", info.rank);
        }
    }
    Ok(())
}
