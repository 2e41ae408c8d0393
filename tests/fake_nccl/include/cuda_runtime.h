/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The moemesh authors */
#include "cuda_runtime_api.h"
