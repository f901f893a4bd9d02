#!/bin/sh
# Judges failure detectors on the signals that were published with ActProbe; an hour on two free cores.
#
#   git clone https://github.com/air-embodied-brain/actprobe
#   sh studies/generative/run.sh actprobe           # or `run.sh actprobe field`: the tables of NOTE.md only, ten minutes
#
# The commit was d5dfbcc98ee5e5766f8aa548c657d3446e40e272 (Apache-2.0). `data.sha256` lists the files that are read and their
# digests. Files of GR00T and pi0.5 of 4 MiB and more, and all of OpenVLA, were not in the copy that we had and are not read.
set -eu
data=$(cd "$1/benchmarks" && pwd)
what=${2:-all}
here=$(cd "$(dirname "$0")" && pwd)
(cd "$data" && sha256sum --check --quiet "$here/data.sha256")
out=$(mktemp -d)
# Files of a benchmark and its table, then more arguments.
judge() {
    benchmark=$1 name=$2
    shift 2
    # No path in the list has a space.
    for file in $(grep -o "$benchmark/.*l\$" "$here/data.sha256"); do set -- "$@" "$data/$file"; done
    offnominal rollouts judge "$@" --seed 0 --replicates 2000 --out "$out/$name" --quiet
    cp "$out/$name/rollouts.csv" "$here/$name.csv"
}
# Each signal and its mean so far, and other detectors.
field() {
    benchmark=$1 name=$2 signals=$3 others=$4
    set --
    for signal in $signals; do set -- "$@" --detector "$signal" --detector "mean($signal)"; done
    for other in $others; do set -- "$@" --detector "$other"; done
    judge "$benchmark" "$name" "$@"
}
policy='chunk_mse denoising_curvature action_jerk action_norm gripper_oscillation'
body='eef_z eef_z_vel eef_speed_3d gripper_qpos_mean gripper_qpos_vel'
at=physics_info.state.end_effector_position_absolute
grip=physics_info.state.gripper_qpos
field pi0_libero pi0 "$policy $body chunk_mse_mmd" \
    'reversals(eef_z) max(chunk_mse) ewma(chunk_mse) sum(chunk_mse) -action_norm -mean(action_norm)'
field groot_robocasa groot "$policy $at[0] $at[1] $at[2] $grip[0] $grip[1]" "reversals($at[0]) reversals($at[1]) reversals($at[2])"
field pi05_robocasa pi05 "$policy $body" 'reversals(eef_z)'
# What learns, cross-fitted.
set -- --split folds:5 --versus 'mean(chunk_mse)'
for detector in 'mean(chunk_mse)' 'mean(denoising_curvature)' actprobe hazard 'hazard(chunk_mse,denoising_curvature)' \
    'odds(hazard,actprobe)'; do
    set -- "$@" --detector "$detector"
done
judge pi0_libero pi0-folds "$@"
judge groot_robocasa groot-folds "$@"
judge pi05_robocasa pi05-folds "$@"
if [ "$what" = field ]; then exit; fi
set -- --task-embeddings "$data/pi0_libero/data/task_embeddings.npy" --versus actprobe
for detector in 'mean(chunk_mse)' '-mean(action_norm)' actprobe hazard 'odds(hazard,actprobe)'; do
    set -- "$@" --detector "$detector"
done
judge pi0_libero splits "$@" --split seen:0,1,2 --split unseen:0,1,2
judge pi0_libero ten "$@" --split seen:0,1,2,3,4,5,6,7,8,9 --split unseen:0,1,2,3,4,5,6,7,8,9
judge pi0_libero crossed "$@" --split folds:5 --split tasks:5
