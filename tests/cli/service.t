#!/bin/bash
# service.t - the estimate as a service: hrun --predict, libhrun from C and from Python, the programs of hrun(7). What they
# say is what the dry run says.
. "$(dirname "$0")/tap.sh"

cat >"$tmp/cluster.yaml" <<Y
subclusters:
  - name: new
    hosts: 127.0.0.[2-3]
    topology: "[numa] package:1 core:4 pu:1"
    cost_per_hour: 9
  - name: old
    hosts: 127.0.1.[1-4]
    topology: "[numa] package:1 core:2 pu:1"
    cost_per_hour: 1
Y
. "$top/tests/cli/madelog.sh"
put <<<$'alone new 2\nalone old 4\nrun (1,1,4,1) 2000 1.2\nrun (2,1,4,1) 2000 1.1'
run hrun-calibrate fit lu
status_is 0 "profiles of two sub-clusters"
