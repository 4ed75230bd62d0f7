// The health check of a container: exits with 0 if the daemon answers a path of its management port with 2xx. The argument
// is /readyz or /healthz.
const port = process.env.HOOKMILL_MANAGEMENT_PORT || 8081;
const { ok, status } = await fetch(`http://127.0.0.1:${port}${process.argv[2]}`);
console.log(status);
process.exitCode = ok ? 0 : 1;
