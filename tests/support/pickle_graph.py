# SPDX-License-Identifier: MIT
"""The answer to DAG, unpickled without ezmsg: the class is replaced by an empty one of our own."""
import collections
import io
import pickle
import uuid


class _Dag:
    pass


class _Unpickler(pickle.Unpickler):
    KNOWN = {
        ("ezmsg.core.dag", "DAG"): _Dag,
        ("collections", "defaultdict"): collections.defaultdict,
        ("builtins", "set"): set,
        ("uuid", "UUID"): uuid.UUID,
    }

    def find_class(self, module, name):
        return self.KNOWN[module, name]


def load_graph(data):
    return dict(_Unpickler(io.BytesIO(data)).load().graph)
