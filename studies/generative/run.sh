#!/bin/sh
# Judges failure detectors on the signals that were published with ActProbe; a quarter of an hour on two free cores.
#
#   sh studies/generative/run.sh DATA
#
# DATA is the folder data/pi0_libero of github.com/air-embodied-brain/actprobe (Apache-2.0): task_0.jsonl ... task_9.jsonl and
# task_embeddings.npy.
set -eu
data=$1
here=$(dirname "$0")
out=$(mktemp -d)
judge() {
    name=$1
    shift
    offnominal rollouts judge "$data" --seed 0 --replicates 2000 --out "$out/$name" --quiet "$@"
    cp "$out/$name/rollouts.csv" "$here/$name.csv"
}
signals='chunk_mse max(chunk_mse) mean(chunk_mse) ewma(chunk_mse) sum(chunk_mse) chunk_mse_mmd mean(chunk_mse_mmd)
    -action_norm -mean(action_norm) mean(action_jerk) mean(denoising_curvature)'
set --
for signal in $signals; do set -- "$@" --detector "$signal"; done
judge all "$@"
set -- --task-embeddings "$data/task_embeddings.npy" --versus actprobe
for detector in 'mean(chunk_mse)' '-mean(action_norm)' actprobe hazard 'odds(hazard,actprobe)'; do
    set -- "$@" --detector "$detector"
done
judge splits "$@" --split seen:0,1,2 --split unseen:0,1,2
judge ten "$@" --split seen:0,1,2,3,4,5,6,7,8,9 --split unseen:0,1,2,3,4,5,6,7,8,9
judge crossed "$@" --split folds:5 --split tasks:5
