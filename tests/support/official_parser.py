# SPDX-License-Identifier: MIT
"""OpenMetrics as Prometheus' own client for Python reads it, which is strict."""
import json
import os
import subprocess
import sys

PARSER = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = parse(sys.stdin.buffer.read().decode())
json.dump({f.name: [(s.labels, s.value) for s in f.samples] for f in families}, sys.stdout)
"""


def by_prometheus(text):
    """{family: [(labels, value)]}; None where nobody has the package python3-prometheus-client."""
    for python in (sys.executable, "/usr/bin/python3"):
        probe = [python, "-c", "import prometheus_client"]
        if not os.path.exists(python) or subprocess.run(probe, stderr=subprocess.DEVNULL).returncode:
            continue
        return json.loads(subprocess.run([python, "-c", PARSER], input=text.encode(), check=True,
                                         stdout=subprocess.PIPE, timeout=50).stdout)
    return None
