# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
#
# Untested: no Spack was at hand. Only its syntax is checked. Written for Spack 0.23:
#   spack repo add examples/deploy/spack; spack dev-build moemesh@main
from spack.package import *


class Moemesh(CMakePackage):
    """The training step of mixture-of-experts models over a device mesh: a shared library behind one C header."""

    license("Apache-2.0", checked_by="moemesh")

    version("main", branch="main")

    variant("shared", default=True, description="libmoemesh.so; without it libmoemesh.a")
    variant("mpi", default=True, description="the module for more than one rank")
    variant("onednn", default=True, description="oneDNN's matrix products; without it portable ones")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("kokkos@4.5: ~shared +pic +openmp +serial cxxstd=20")
    depends_on("fmt", type="build")
    depends_on("xxhash", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("onednn", when="+onednn")
    depends_on("mpi", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("MOEMESH_STATIC", self.spec.satisfies("~shared")),
            self.define_from_variant("MOEMESH_ENABLE_MPI", "mpi"),
            self.define_from_variant("MOEMESH_ENABLE_ONEDNN", "onednn"),
            self.define("MOEMESH_BUILD_TESTS", False),
            self.define("MOEMESH_BUILD_EXAMPLES", False),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc))
        return args

    def setup_run_environment(self, env):
        # The core looks for its MPI module in its own folder; an archive's program looks where the loader does.
        if self.spec.satisfies("~shared +mpi"):
            env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)
