#!/usr/bin/env bash
exec python3 test/tools/npu/cli_test.py "$@"
