#!/bin/sh
# Makes a Job for a run, waits for its end, and prints its log: kubernetes.sh MANIFEST
# The run's files reach it as a ConfigMap (at most 1 MiB), which the Job mounts.
set -eu
name="hookmill-$(printf %s "$HOOKMILL_RUN_ID" | tr _ -)"
clean() {
  kubectl delete --ignore-not-found --wait=false "job/$name" "configmap/$name"
}
trap 'clean; exit 1' TERM INT
kubectl create configmap "$name" --dry-run=client --output=yaml \
  --from-file=prompt.md --from-file=event-payload.json --from-file=event-headers.json |
  kubectl apply --server-side --field-manager=hookmill --filename=-
# A repeated attempt finds the Job that an interrupted one made, and waits for it.
sed "s/RUN_NAME/$name/g" "$1" | kubectl apply --server-side --field-manager=hookmill --filename=-
status=
until [ -n "$status" ]; do
  case $(kubectl get job "$name" --output='jsonpath={.status.conditions[?(@.status=="True")].type}') in
    *Complete*) status=0 ;;
    *Failed*) status=1 ;;
    *)
      sleep 2 &
      wait $!
      ;;
  esac
done
kubectl logs --tail=-1 "job/$name"
clean
exit "$status"
