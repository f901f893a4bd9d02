#!/usr/bin/env bash
# Runs {{ campaign }} on Kubernetes: an indexed job for each layer of cells, one after the other, and then the tables.
#   IMAGE=… CLAIM=… [PARALLEL=16] bash this.sh
# IMAGE has the program `offnominal`; CLAIM is a volume that many pods write to, mounted at /shared, where the campaign
# is and the results go. A cell that is finished is skipped, so the same script, after its jobs were deleted, repeats
# what failed.
set -euo pipefail
: "${IMAGE:?expected the image with offnominal}" "${CLAIM:?expected the name of a shared volume claim}"
command={{ "'" }}{{ bench | replace("'", "'\\''") }}{{ "'" }}
job() {
  local name=$1 cells=$2 arguments=$3
  kubectl apply -f - <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: offnominal-$name
spec:
  completionMode: Indexed
  completions: $cells
  parallelism: ${PARALLEL:-16}
  backoffLimitPerIndex: 2
  maxFailedIndexes: $cells
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: cell
        image: $IMAGE
        workingDir: /shared
        command: ["sh", "-c"]
        args:
        - |
          $command --quiet $arguments
        volumeMounts:
        - name: shared
          mountPath: /shared
      volumes:
      - name: shared
        persistentVolumeClaim:
          claimName: $CLAIM
YAML
  kubectl wait --for=condition=complete --timeout="${TIMEOUT:-24h}" "job/offnominal-$name"
}
{% for layer in layers if layer.n -%}
job {{ layer.name }} {{ layer.n }} '--cell {{ layer.name }}:$JOB_COMPLETION_INDEX'
{% endfor -%}
job tables 1 ''
