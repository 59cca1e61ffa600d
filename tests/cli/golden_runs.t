#!/bin/bash
# Dry runs of many definitions and commands on described, captured and simulated hosts, text and JSON, are as they were:
# tests/data/golden
. "$(dirname "$0")/tap.sh"
HRUN_BUILD=$build /usr/bin/python3 tests/data/golden/golden.py
