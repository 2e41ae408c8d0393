// SPDX-License-Identifier: Apache-2.0
// Copyright 2026 The moemesh authors

//! Blocks of attention, which is candle's, and MoE layers, which are moemesh's. moemesh owns every parameter: candle's variables are
//! copies of the SHARED ones.

use std::sync::{Arc, Mutex};

use candle_core::backprop::GradStore;
use candle_core::{D, DType, Device, Result, Tensor, Var};
use candle_nn::ops::softmax;
use moemesh::{
    Axes, Context, Family, FamilyKind, FamilyParams, InitKind, Layer, LayerParams, Mesh, MeshParams, Optimizer,
    OptimizerParams, Parameter, ParameterParams, StepParams, UpdateResult, View,
};

use crate::moe::{Moe, Open};

pub const HIDDEN: usize = 48;
pub const WINDOW: usize = 64;
const FFN: i64 = 96;
pub const EXPERTS: i64 = 4;
pub const TOP_K: i32 = 2;
const HEADS: usize = 4;
const BLOCKS: usize = 2;
const SEED: i64 = 5;

/// A parameter of candle's part.
struct Weight {
    parameter: Parameter,
    variable: Var,
}

struct Block {
    attention: [usize; 4], // q, k, v, out: places in `weights`
    moe: Moe,
}

pub struct Model {
    pub mesh: Mesh,
    optimizer: Optimizer,
    step: Open,
    weights: Vec<Weight>,
    embedding: usize,
    place: usize,
    head: usize,
    blocks: Vec<Block>,
}

pub fn error(error: moemesh::Error) -> candle_core::Error {
    candle_core::Error::wrap(error)
}

pub fn layer_params(name: &str) -> LayerParams {
    let params = LayerParams::new().name(name).hidden(HIDDEN as i64).ffn(FFN).experts(EXPERTS).top_k(TOP_K);
    params.init_std_router(0.1).init_std_in(0.12).init_std_out(0.1).aux_coefficient(0.01)
}

/// A mesh whose ranks all share the experts, and the two families.
pub fn families(context: &Context) -> moemesh::Result<(Mesh, Family, Family)> {
    let mesh = Mesh::new(context, &MeshParams::new().ep(context.info()?.size as i32))?;
    let family = |kind| Family::new(&mesh, &FamilyParams::new().kind(kind).seed(SEED));
    let (shared, expert) = (family(FamilyKind::Shared)?, family(FamilyKind::Expert)?);
    Ok((mesh, shared, expert))
}

/// Registers candle's parameters.
struct Registry<'f> {
    family: &'f Family,
    parameters: Vec<(Parameter, [usize; 2])>,
}

impl Registry<'_> {
    fn matrix(&mut self, name: &str, rows: usize, columns: usize, deviation: f64) -> moemesh::Result<usize> {
        let params = ParameterParams::new().name(name).extents(&[rows as i64, columns as i64]);
        let parameter = self.family.register(&params.init_kind(InitKind::Normal).init_value(deviation))?;
        self.parameters.push((parameter, [rows, columns]));
        Ok(self.parameters.len() - 1)
    }

    fn weights(self) -> Result<Vec<Weight>> {
        let weight = |(parameter, [rows, columns]): (Parameter, [usize; 2])| {
            let values = parameter.acquire::<f32>().map_err(error)?.to_vec();
            let variable = Var::from_vec(values, (rows, columns), &Device::Cpu)?;
            Ok(Weight { parameter, variable })
        };
        self.parameters.into_iter().map(weight).collect()
    }
}

impl Model {
    pub fn new(context: &Context, learning_rate: f64) -> Result<Model> {
        let (mesh, shared, expert) = families(context).map_err(error)?;
        let step = Open::default();
        let mut registry = Registry { family: &shared, parameters: Vec::new() };
        let mut parts = || -> moemesh::Result<_> {
            let embedding = registry.matrix("embedding", 256, HIDDEN, 0.1)?;
            let place = registry.matrix("place", WINDOW, HIDDEN, 0.1)?;
            let head = registry.matrix("head", 256, HIDDEN, 0.1)?;
            let mut blocks = Vec::new();
            for b in 0..BLOCKS {
                let mut square = |name: &str| registry.matrix(&format!("block{b}.{name}"), HIDDEN, HIDDEN, 0.1);
                let attention = [square("q")?, square("k")?, square("v")?, square("out")?];
                let layer = Layer::new(&mesh, &shared, &expert, &layer_params(&format!("block{b}.moe")))?;
                blocks.push(Block { attention, moe: Moe::new(layer, step.clone()) });
            }
            shared.commit()?;
            expert.commit()?;
            let rules = OptimizerParams::new().learning_rate(learning_rate).max_norm(1.0);
            let optimizer = Optimizer::new(&mesh, Some(&shared), Some(&expert), &rules)?;
            Ok((embedding, place, head, blocks, optimizer))
        };
        let (embedding, place, head, blocks, optimizer) = parts().map_err(error)?;
        let weights = registry.weights()?;
        Ok(Model { mesh, optimizer, step, weights, embedding, place, head, blocks })
    }

    fn weight(&self, index: usize) -> &Tensor {
        self.weights[index].variable.as_tensor()
    }

    /// Mean loss in nats a byte of some windows of WINDOW + 1 bytes.
    pub fn loss(&self, windows: &[&[u8]]) -> Result<Tensor> {
        let bytes = |skip: usize| -> Result<Tensor> {
            let all: Vec<u32> =
                windows.iter().flat_map(|w| w[skip..][..WINDOW].iter().map(|b| u32::from(*b))).collect();
            Tensor::from_vec(all, windows.len() * WINDOW, &Device::Cpu)
        };
        let x = self.weight(self.embedding).index_select(&bytes(0)?, 0)?.reshape((windows.len(), WINDOW, HIDDEN))?;
        let mut x = x.broadcast_add(self.weight(self.place))?;
        for block in &self.blocks {
            x = (&x + self.attention(block, &normalize(&x)?)?)?;
            let rows = normalize(&x)?.reshape((windows.len() * WINDOW, HIDDEN))?;
            x = (&x + block.moe.forward(&rows)?.reshape(x.shape())?)?;
        }
        let rows = normalize(&x)?.reshape((windows.len() * WINDOW, HIDDEN))?;
        candle_nn::loss::cross_entropy(&rows.matmul(&self.weight(self.head).t()?)?, &bytes(1)?)
    }

    fn attention(&self, block: &Block, x: &Tensor) -> Result<Tensor> {
        let (batch, length, _) = x.dims3()?;
        let flat = x.reshape((batch * length, HIDDEN))?;
        let heads = |i: usize| {
            let rows = flat.matmul(&self.weight(block.attention[i]).t()?)?;
            rows.reshape((batch, length, HEADS, HIDDEN / HEADS))?.transpose(1, 2)?.contiguous()
        };
        let scores = (heads(0)?.matmul(&heads(1)?.t()?)? / ((HIDDEN / HEADS) as f64).sqrt())?;
        let later: Vec<f32> =
            (0..length * length).map(|i| if i % length > i / length { f32::NEG_INFINITY } else { 0.0 }).collect();
        let scores = scores.broadcast_add(&Tensor::from_vec(later, (length, length), &Device::Cpu)?)?;
        let mixed = softmax(&scores, D::Minus1)?.matmul(&heads(2)?)?.transpose(1, 2)?.contiguous()?;
        let out = mixed.reshape((batch * length, HIDDEN))?.matmul(&self.weight(block.attention[3]).t()?)?;
        out.reshape((batch, length, HIDDEN))
    }

    /// One training step. Returns this rank's loss.
    pub fn train(&self, windows: &[&[u8]]) -> Result<(f32, UpdateResult)> {
        let step = self.optimizer.begin(&StepParams::new()).map_err(error)?;
        *self.step.lock().unwrap() = Some(step);
        let loss = self.loss(windows);
        let gradients = loss.and_then(|loss| Ok((loss.to_scalar::<f32>()?, loss.backward()?)));
        let step = self.step.lock().unwrap().take().expect("the step that was put there");
        // Whatever happened here: other ranks come to the step's end, which drops it on all where a rank failed.
        let given = gradients.and_then(|(loss, gradients)| self.hand_over(&step, &gradients).map(|()| loss));
        let result = step.finish().map_err(error);
        let (loss, result) = (given?, result?);
        self.refresh()?;
        Ok((loss, result))
    }

    /// candle's gradients to moemesh, which sums them over the ranks.
    fn hand_over(&self, step: &moemesh::Step, gradients: &GradStore) -> Result<()> {
        for weight in &self.weights {
            let gradient = gradients.get(&weight.variable).ok_or_else(|| candle_core::Error::msg("no gradient"))?;
            let (values, shape) = (gradient.flatten_all()?.to_vec1::<f32>()?, gradient.dims());
            let ready = View::new(&values, shape).and_then(|view| weight.parameter.ready(step, Some(view)));
            ready.map_err(error)?;
        }
        Ok(())
    }

    /// The new values to candle's variables.
    fn refresh(&self) -> Result<()> {
        for weight in &self.weights {
            let values = weight.parameter.acquire::<f32>().map_err(error)?.to_vec();
            weight.variable.set(&Tensor::from_vec(values, weight.variable.shape(), &Device::Cpu)?)?;
        }
        Ok(())
    }

    /// The mean over all ranks.
    pub fn mean(&self, value: f64) -> Result<f64> {
        let mut sum = [value, 1.0];
        let view = moemesh::ViewMut::new(&mut sum, &[2]);
        let summed = view.and_then(|mut view| self.mesh.all_reduce(Axes::WORLD, moemesh::ReduceOp::Sum, &mut view));
        summed.map_err(error)?;
        Ok(sum[0] / sum[1])
    }

    pub fn finalize(self) -> Result<()> {
        self.mesh.finalize().map_err(error)
    }
}

/// Rows of length about sqrt(HIDDEN).
fn normalize(x: &Tensor) -> Result<Tensor> {
    let mean = x.sqr()?.mean_keepdim(D::Minus1)?;
    x.broadcast_div(&(mean + 1e-5)?.sqrt()?)?.to_dtype(DType::F32)
}

/// The layer alone, for the check.
pub fn lone_layer(context: &Context) -> moemesh::Result<(Mesh, Family, Family, Optimizer, Moe, Open)> {
    let (mesh, shared, expert) = families(context)?;
    let layer = Layer::new(&mesh, &shared, &expert, &layer_params("moe").init_std_router(0.5).aux_coefficient(0.0))?;
    shared.commit()?;
    expert.commit()?;
    let optimizer = Optimizer::new(&mesh, Some(&shared), Some(&expert), &OptimizerParams::new())?;
    let step: Open = Arc::new(Mutex::new(None));
    let moe = Moe::new(layer, step.clone());
    Ok((mesh, shared, expert, optimizer, moe, step))
}
