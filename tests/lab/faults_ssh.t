#!/bin/bash
# Engine ssh on clusters where something goes wrong: what faults.t asks of engine mpirun.
export LAB_ENGINE=ssh
exec "$(dirname "$0")/faults.t"
