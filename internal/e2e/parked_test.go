//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

// parkedTimeout bounds the parking of a few hundred calls and their expiry.
const parkedTimeout = time.Minute

// TestParkedLetGoThrough parks calls of a modern client at a legacy backend,
// never retries them, and wants all of them to be let go within two seconds after
// their states have expired: at the backend, and in Beckon's own count. The
// measurement is that of relaybench, which fails when one is late.
func TestParkedLetGoThrough(t *testing.T) {
	var stdout bytes.Buffer
	cmd := exec.Command(binaries.path(t, "./relaybench"),
		"-beckon", beckonBinary(t), "-only", "parked", "-parked", "500", "-park-ttl", "8s")
	cmd.Env = append(os.Environ(), raceName+"="+raceValue)
	cmd.Stdout = &stdout
	p := startProcess(t, cmd)
	ctx, cancel := context.WithTimeoutCause(t.Context(), parkedTimeout, fmt.Errorf("not over after %v", parkedTimeout))
	defer cancel()
	code, err := p.wait(ctx)
	p.kill()
	t.Logf("%s", stdout.String())
	if err != nil || code != 0 {
		t.Errorf("exit code %d (%v): %s", code, err, p.stderr.all())
	}
}
