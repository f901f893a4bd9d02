#!/usr/bin/env bash
# How hard unknown things are to find, by their contrast, size and distance: judges a network of train.py on streets that
# differ in one of the three.
#
#     cargo build --release --features deep
#     studies/pixels/difficulty.sh target/release/offnominal
#
# Data and the page lie in runs/pixels-difficulty, the table goes to studies/pixels/difficulty.csv.
set -euo pipefail
offnominal=$(realpath "$1")
cd "$(dirname "$0")/../.."
runs=${2:-runs/pixels-difficulty}
pixels() { "$offnominal" pixels "$@" --quiet > /dev/null; }
size=(--width 128 --height 64)
[ -d "$runs/train" ] || pixels scenes --split train -n 600 "${size[@]}" --seed 1 --out "$runs/train"
[ -d "$runs/pasted" ] || pixels paste --data "$runs/train" --seed 1 --out "$runs/pasted"
judged=()
for how in usual: contrast-high:--contrast=high contrast-low:--contrast=low size-large:--size=large size-small:--size=small \
  distance-near:--distance=near distance-far:--distance=far; do
  IFS=: read -r name option <<< "$how"
  [ -d "$runs/$name" ] || pixels scenes --split test -n 100 "${size[@]}" ${option:+"$option"} --seed 2 --out "$runs/$name"
  judged+=(--data "$runs/$name")
done
pixels evaluate "${judged[@]}" --model agents/pixels/pspnet-none.safetensors --nominal "$runs/train" --outliers "$runs/pasted" \
  --methods max-softmax,energy,mahalanobis,feature-knn,outlier-head --seed 1 --out "$runs/page"
cp "$runs/page/pixels.csv" studies/pixels/difficulty.csv
