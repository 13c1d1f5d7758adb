{{- define "whyslow-watch.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "whyslow-watch.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "whyslow-watch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "whyslow-watch.account" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "whyslow-watch.name" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}
