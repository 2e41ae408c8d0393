// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! A small model, and its layer computed densely in double precision.
#![allow(dead_code)] // each test program uses a part

use moemesh::*;

pub const HIDDEN: usize = 6;
pub const FFN: usize = 10;
pub const EXPERTS: usize = 4;
pub const TOP_K: usize = 2;

pub struct Model {
    pub context: Context,
    pub mesh: Mesh,
    pub shared: Family,
    pub expert: Family,
    pub layer: Layer,
    pub optimizer: Optimizer,
}

pub fn layer_params() -> LayerParams {
    LayerParams::new()
        .name("moe")
        .hidden(HIDDEN as i64)
        .ffn(FFN as i64)
        .experts(EXPERTS as i64)
        .top_k(TOP_K as i32)
        .init_std_router(0.5)
        .init_std_in(0.5)
        .init_std_out(0.5)
}

pub fn families(mesh: &Mesh) -> Result<(Family, Family)> {
    let family = |kind| Family::new(mesh, &FamilyParams::new().kind(kind).seed(7));
    Ok((family(FamilyKind::Shared)?, family(FamilyKind::Expert)?))
}

impl Model {
    pub fn new(context: Context, mesh: &MeshParams, layer: &LayerParams, optimizer: &OptimizerParams) -> Result<Model> {
        let mesh = Mesh::new(&context, mesh)?;
        let (shared, expert) = families(&mesh)?;
        let layer = Layer::new(&mesh, &shared, &expert, layer)?;
        shared.commit()?;
        expert.commit()?;
        let optimizer = Optimizer::new(&mesh, Some(&shared), Some(&expert), optimizer)?;
        Ok(Model { context, mesh, shared, expert, layer, optimizer })
    }

    pub fn alone() -> Result<Model> {
        Model::new(Context::new(ContextParams::new())?, &MeshParams::new(), &layer_params(), &OptimizerParams::new())
    }

    /// Forward and backward of one microbatch: y, dx.
    pub fn run(&self, step: &Step, x: &[f32], dy: &[f32]) -> Result<(Vec<f32>, Vec<f32>)> {
        let shape = [x.len() / HIDDEN, HIDDEN];
        let (mut y, mut dx) = (vec![f32::NAN; x.len()], vec![f32::NAN; x.len()]);
        let tape = self.layer.forward(step, Forward::new(View::new(x, &shape)?, ViewMut::new(&mut y, &shape)?))?;
        tape.backward(step, Backward::new(View::new(dy, &shape)?, ViewMut::new(&mut dx, &shape)?))?;
        Ok((y, dx))
    }

    pub fn finalize(self) -> Result<()> {
        self.mesh.finalize()?;
        self.context.finalize()
    }
}

/// Numbers in [-1, 1) that depend on the seed alone.
pub fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    for _ in 0..8 {
        next();
    }
    (0..count).map(|_| next()).collect()
}

/// The layer of `layer_params` in double precision: SwiGLU experts, renormalised gates.
pub struct Dense {
    pub router: Vec<f64>,
    pub experts: Vec<[Vec<f64>; 3]>, // w1, wg, w2
}

fn zeros(other: &Dense) -> Dense {
    let like = |from: &Vec<f64>| vec![0.0; from.len()];
    Dense {
        router: like(&other.router),
        experts: other.experts.iter().map(|weights| std::array::from_fn(|i| like(&weights[i]))).collect(),
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

/// out += scale * row
fn add(out: &mut [f64], scale: f64, row: &[f64]) {
    out.iter_mut().zip(row).for_each(|(out, row)| *out += scale * row);
}

impl Dense {
    /// Quantities of the layer's parameters, whatever the sharding. Collective over the stage.
    pub fn read(model: &Model, quantity: Quantity) -> Result<Dense> {
        let read = |family: &Family, name: &str, expert: usize, size: usize| -> Result<Vec<f64>> {
            let mut array = vec![0f32; size];
            family.find(name)?.read(quantity, expert as i64, &mut array)?;
            Ok(array.into_iter().map(f64::from).collect())
        };
        let expert = |e| -> Result<[Vec<f64>; 3]> {
            Ok([
                read(&model.expert, "moe.w1", e, FFN * HIDDEN)?,
                read(&model.expert, "moe.wg", e, FFN * HIDDEN)?,
                read(&model.expert, "moe.w2", e, FFN * HIDDEN)?,
            ])
        };
        Ok(Dense {
            router: read(&model.shared, "moe.router", 0, EXPERTS * HIDDEN)?,
            experts: (0..EXPERTS).map(expert).collect::<Result<_>>()?,
        })
    }

    /// y and dx of some tokens; weight gradients are added to `gradients`.
    pub fn run(&self, x: &[f32], dy: &[f32], gradients: &mut Dense) -> (Vec<f64>, Vec<f64>) {
        let (mut y, mut dx) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let wide = |row: &[f32]| row.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
        for (t, (x, dy)) in x.chunks(HIDDEN).zip(dy.chunks(HIDDEN)).enumerate() {
            let at = t * HIDDEN..(t + 1) * HIDDEN;
            self.token(&wide(x), &wide(dy), &mut y[at.clone()], &mut dx[at], gradients);
        }
        (y, dx)
    }

    fn token(&self, x: &[f64], dy: &[f64], y: &mut [f64], dx: &mut [f64], gradients: &mut Dense) {
        let logits: Vec<f64> = self.router.chunks(HIDDEN).map(|row| dot(row, x)).collect();
        let mut chosen: Vec<usize> = (0..EXPERTS).collect();
        chosen.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]));
        chosen.truncate(TOP_K);
        let exponentials: Vec<f64> = chosen.iter().map(|e| (logits[*e] - logits[chosen[0]]).exp()).collect();
        let gates: Vec<f64> = exponentials.iter().map(|v| v / exponentials.iter().sum::<f64>()).collect();
        let mut dgates = vec![0.0; TOP_K];
        for (i, e) in chosen.iter().enumerate() {
            dgates[i] = self.expert(*e, gates[i], x, dy, y, dx, gradients);
        }
        let mean = dot(&gates, &dgates);
        for (i, e) in chosen.iter().enumerate() {
            let dlogit = gates[i] * (dgates[i] - mean);
            add(&mut gradients.router[e * HIDDEN..][..HIDDEN], dlogit, x);
            add(dx, dlogit, &self.router[e * HIDDEN..][..HIDDEN]);
        }
    }

    /// Returns the gradient of the gate.
    #[allow(clippy::too_many_arguments)]
    fn expert(
        &self,
        e: usize,
        gate: f64,
        x: &[f64],
        dy: &[f64],
        y: &mut [f64],
        dx: &mut [f64],
        gradients: &mut Dense,
    ) -> f64 {
        let [w1, wg, w2] = &self.experts[e];
        let mut dgate = 0.0;
        for f in 0..FFN {
            let row = f * HIDDEN..(f + 1) * HIDDEN;
            let (up, gated) = (dot(&w1[row.clone()], x), dot(&wg[row.clone()], x));
            let sigmoid = 1.0 / (1.0 + (-gated).exp());
            let activation = gated * sigmoid * up;
            let mut da = 0.0;
            for h in 0..HIDDEN {
                y[h] += gate * w2[h * FFN + f] * activation;
                da += w2[h * FFN + f] * dy[h];
                gradients.experts[e][2][h * FFN + f] += gate * activation * dy[h];
            }
            dgate += da * activation;
            let dup = gate * da * gated * sigmoid;
            let dgated = gate * da * up * sigmoid * (1.0 + gated * (1.0 - sigmoid));
            add(&mut gradients.experts[e][0][row.clone()], dup, x);
            add(&mut gradients.experts[e][1][row.clone()], dgated, x);
            add(dx, dup, &w1[row.clone()]);
            add(dx, dgated, &wg[row]);
        }
        dgate
    }

    pub fn zeros(&self) -> Dense {
        zeros(self)
    }

    pub fn scale(&mut self, factor: f64) {
        let all = self.experts.iter_mut().flatten().chain(std::iter::once(&mut self.router));
        all.flatten().for_each(|value| *value *= factor);
    }

    pub fn assert_close(&self, other: &Dense, what: &str) {
        assert_close(&self.router, &other.router, &format!("{what} of the router"));
        for (e, (left, right)) in self.experts.iter().zip(&other.experts).enumerate() {
            for (name, i) in [("w1", 0), ("wg", 1), ("w2", 2)] {
                assert_close(&left[i], &right[i], &format!("{what} of expert {e}'s {name}"));
            }
        }
    }
}

pub fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(1e-3, |most: f64, v| most.max(v.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = (found - expected).abs() / largest;
        assert!(difference < 1e-5, "{what}[{i}]: expected {expected}, found {found}");
    }
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|v| f64::from(*v)).collect()
}
