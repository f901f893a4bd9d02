#!/usr/bin/env bash
# Trains the baseline on what the camera of car-lanekeep sees: for frames of 128 pixels a side, for `pixel-score`, which is
# judged where debris lies on the road; and for frames of 256, for `obstacle-ahead`, which studies/pixels/obstacle-ahead.toml judges.
#
#     cargo build --release
#     studies/pixels/car-lanekeep.sh target/release/offnominal
#
# Frames, models and pages lie in runs/car-lanekeep and runs/car-lanekeep-256; the models go beside this file, the table into
# results/pixels.
set -euo pipefail
offnominal=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

# Arguments: where frames go; side of a frame; then what else `pixels frames` takes.
frames() {
  local to=$1 side=$2
  shift 2
  [ -d "$to" ] || "$offnominal" pixels frames --env car-lanekeep --policy tqc --size "$side" --unknown debris --quiet \
    --out "$to" "$@"
}

# Arguments: name; side of a frame; episodes to learn from; episodes of the validation.
network() {
  local runs=runs/$1
  frames "$runs/train" "$2" --episodes "$3" --every 20 --seed 1
  frames "$runs/validation" "$2" --episodes "$4" --every 50 --seed 2
  "$offnominal" pixels train --data "$runs/train" --validation "$runs/validation" --seed 1 --quiet --out "$runs/model"
  cp "$runs/model/model.safetensors" "agents/pixels/$1.safetensors"
  sed "s|$runs/model/model.safetensors|agents/pixels/$1.safetensors|" "$runs/model/model.json" > "agents/pixels/$1.json"
}

network car-lanekeep 128 24 6
network car-lanekeep-256 256 120 8

runs=runs/car-lanekeep
frames "$runs/debris" 128 --episodes 20 --every 20 --seed 3 --anomaly dyn-debris --magnitude 2 --onset 20
"$offnominal" pixels evaluate --data "$runs/debris" --nominal "$runs/train" --nominal-images 120 --passes 8 \
  --model "$runs/model/model.safetensors" --seed 1 --quiet --out "$runs/page"
mkdir -p studies/pixels
cp "$runs/page/pixels.csv" studies/pixels/car-lanekeep.csv
