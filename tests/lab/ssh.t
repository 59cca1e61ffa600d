#!/bin/bash
# Engine ssh over hosts, for programs of MPICH: what mpirun.t asks of engine mpirun.
export LAB_ENGINE=ssh
exec "$(dirname "$0")/mpirun.t"
