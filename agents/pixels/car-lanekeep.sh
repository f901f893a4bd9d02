#!/usr/bin/env bash
# Trains the baseline on what the camera of car-lanekeep sees, and judges it where debris lies on the road.
#
#     cargo build --release
#     agents/pixels/car-lanekeep.sh target/release/offnominal
#
# Frames, model and page lie in runs/car-lanekeep; the model goes beside this file, the table into results/pixels.
set -euo pipefail
offnominal=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
runs=runs/car-lanekeep
frames=("$offnominal" pixels frames --env car-lanekeep --policy tqc --size 128 --unknown debris --quiet)
[ -d "$runs/train" ] || "${frames[@]}" --episodes 24 --every 20 --seed 1 --out "$runs/train"
[ -d "$runs/validation" ] || "${frames[@]}" --episodes 6 --every 50 --seed 2 --out "$runs/validation"
[ -d "$runs/debris" ] || "${frames[@]}" --episodes 20 --every 20 --seed 3 --out "$runs/debris" \
  --anomaly dyn-debris --magnitude 2 --onset 20
"$offnominal" pixels train --data "$runs/train" --validation "$runs/validation" --seed 1 --quiet --out "$runs/model"
"$offnominal" pixels evaluate --data "$runs/debris" --nominal "$runs/train" --nominal-images 120 --passes 8 \
  --model "$runs/model/model.safetensors" --seed 1 --quiet --out "$runs/page"
cp "$runs/model/model.safetensors" agents/pixels/car-lanekeep.safetensors
sed "s|$runs/model/model.safetensors|agents/pixels/car-lanekeep.safetensors|" "$runs/model/model.json" \
  > agents/pixels/car-lanekeep.json
mkdir -p results/pixels
cp "$runs/page/pixels.csv" results/pixels/car-lanekeep.csv
