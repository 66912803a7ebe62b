{{/* Names, labels, and what all pods have in common. */}}

{{- define "berth.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "berth.account" -}}
{{- .Values.serviceAccount.name | default (include "berth.fullname" .) -}}
{{- end -}}

{{- define "berth.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The component whose pods decide: core where workers have pods of their own, else scheduler. */}}
{{- define "berth.component" -}}
{{- ternary "core" "scheduler" .Values.scaledWorkers.enabled -}}
{{- end -}}

{{- define "berth.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The whole KubeSchedulerConfiguration, as YAML: what mode means, and the given fields over it. */}}
{{- define "berth.configuration" -}}
{{- $second := eq .Values.mode "second" -}}
{{- $lease := dict "leaderElect" true "resourceName" (ternary (include "berth.fullname" .) "kube-scheduler" $second) "resourceNamespace" "kube-system" -}}
{{- $profile := dict "schedulerName" (ternary "berth" "default-scheduler" $second) -}}
{{- $base := dict "apiVersion" "kubescheduler.config.k8s.io/v1" "kind" "KubeSchedulerConfiguration" "leaderElection" $lease "profiles" (list $profile) -}}
{{- $whole := mergeOverwrite $base (deepCopy .Values.configuration) -}}
{{- if not $whole.leaderElection.leaderElect -}}
{{- fail "configuration.leaderElection.leaderElect must stay true: replicas without a lease would all place the same pods" -}}
{{- end -}}
{{- range $whole.profiles -}}
{{- if and (eq (.schedulerName | default "default-scheduler") "default-scheduler") (ne (printf "%s/%s" $whole.leaderElection.resourceNamespace $whole.leaderElection.resourceName) "kube-system/kube-scheduler") -}}
{{- fail "a profile for default-scheduler needs the lease kube-system/kube-scheduler: with another one kube-scheduler would place the same pods (mode: replace has it)" -}}
{{- end -}}
{{- end -}}
{{ toYaml $whole }}
{{- end -}}

{{- define "berth.podAnnotations" -}}
{{- $made := dict "prometheus.io/scrape" "true" "prometheus.io/scheme" "https" "prometheus.io/port" "10259" -}}
{{ toYaml (mergeOverwrite $made (deepCopy .Values.podAnnotations)) }}
{{- end -}}

{{/* The profile `restricted`, for pods and for containers. */}}
{{- define "berth.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "berth.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* What pods that decide share: account, priority, and that they lie on different nodes. */}}
{{- define "berth.decidingPod" -}}
serviceAccountName: {{ include "berth.account" . }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
terminationGracePeriodSeconds: 15
securityContext: {{- include "berth.podSecurity" . | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "berth.selector" . | nindent 12 }}
            app.kubernetes.io/component: {{ include "berth.component" . }}
{{- end -}}

{{/* Health of the port that serves. */}}
{{- define "berth.probes" -}}
livenessProbe:
  httpGet: {scheme: HTTPS, port: https, path: /livez}
  periodSeconds: 10
  timeoutSeconds: 15
  failureThreshold: 8
readinessProbe:
  httpGet: {scheme: HTTPS, port: https, path: /readyz}
  periodSeconds: 5
  timeoutSeconds: 15
startupProbe:
  httpGet: {scheme: HTTPS, port: https, path: /livez}
  periodSeconds: 2
  timeoutSeconds: 15
  failureThreshold: 60
{{- end -}}

{{/* One process in a container of its own: a list of the root context, its name, its command (JSON), the door
     that its health is asked at, and whether it has the keys. */}}
{{- define "berth.process" -}}
{{- $root := index . 0 -}}
- name: {{ index . 1 }}
  image: {{ include "berth.image" $root | quote }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  command: {{- toYaml (index . 2) | nindent 2 }}
  env:
  - name: POD_NAME
    valueFrom: {fieldRef: {fieldPath: metadata.name}}
  # A directory of its own inside the volume: others may write to the volume itself.
  - {name: BERTH_RUN_DIR, value: /run/berth/bus}
  {{- with index . 3 }}
  livenessProbe:
    exec:
      command: {{- toYaml . | nindent 6 }}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 6
  {{- end }}
  resources: {{- toYaml $root.Values.scaledWorkers.resources | nindent 4 }}
  securityContext: {{- include "berth.containerSecurity" $root | nindent 4 }}
  volumeMounts:
  - {name: run, mountPath: /run/berth}
  {{- range index . 4 }}
  - {name: {{ . }}, mountPath: {{ ternary "/keys" "/etc/berth" (eq . "keys") }}, readOnly: true}
  {{- end }}
{{- end -}}
