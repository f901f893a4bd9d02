#!/usr/bin/env bash
# Submits {{ campaign }} to Slurm: an array for each layer of cells, each after the one before, and then the tables.
# Arguments go to every sbatch: bash this.sh --partition=short --cpus-per-task=2 --time=4:00:00
# Submit it where the campaign and the folder of results are, as the nodes see them. A cell that is finished is
# skipped, so the same script repeats what failed.
set -euo pipefail
command={{ "'" }}{{ bench | replace("'", "'\\''") }}{{ "'" }}
after=""
array() {
  local name=$1 cells=$2
  shift 2
  after=$(sbatch --parsable --job-name="offnominal-$name" --array="0-$((cells - 1))" \
    ${after:+--dependency="afterok:$after"} "$@" \
    --wrap "$command --jobs \${SLURM_CPUS_PER_TASK:-1} --quiet --cell $name:\$SLURM_ARRAY_TASK_ID")
  after=${after%%;*}
  echo "$name: $cells cells, job $after"
}
{% for layer in layers if layer.n -%}
array {{ layer.name }} {{ layer.n }} "$@"
{% endfor -%}
tables=$(sbatch --parsable --job-name=offnominal-tables --dependency="afterok:$after" "$@" --wrap "$command --quiet")
echo "tables: job ${tables%%;*}"
