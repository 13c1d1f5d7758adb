# The static program, and the certificates by which it knows the servers of captures that lie elsewhere. `make dist` builds what is
# copied here; then
#   docker build -f Dockerfile -t whyslow target/dist
#   docker run --rm -v "$PWD:/captures:ro" whyslow slow.pcap
FROM alpine:3 AS certificates

FROM scratch
ARG TARGETARCH
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY image/$TARGETARCH/whyslow /whyslow
# For what comes through a pipe and is read twice.
WORKDIR /tmp
WORKDIR /captures
ENTRYPOINT ["/whyslow"]
