"""Serves a model on loopback as an OpenAI-compatible server: serve.py MODEL.gguf PORT. Ends with its standard input."""
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.n_parallel = 1
params.n_ctx = 8192
params.use_jinja = True
# Threads that wait for each other spin, so that more than one is slower wherever something else runs.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print("ready", flush=True)
sys.stdin.read()
