//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// binaries builds each program once per test process.
var binaries = newBuilder()

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		binaries.remove()
		os.Exit(code)
	}))
}

type builder struct {
	mu    sync.Mutex
	dir   string                            // guarded by mu; made with the first build
	built map[string]func() (string, error) // guarded by mu; keyed by package
}

func newBuilder() *builder { return &builder{built: make(map[string]func() (string, error))} }

// path returns the binary of a main package. The flags of the first call count.
func (b *builder) path(t *testing.T, pkg string, flags ...string) string {
	t.Helper()
	b.mu.Lock()
	build, ok := b.built[pkg]
	if !ok {
		build = sync.OnceValues(func() (string, error) { return b.build(pkg, flags) })
		b.built[pkg] = build
	}
	b.mu.Unlock()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (b *builder) build(pkg string, flags []string) (string, error) {
	dir, err := b.folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(pkg))
	args := append([]string{"build", "-o", path}, flags...)
	if out, err := exec.Command("go", append(args, pkg)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return path, nil
}

func (b *builder) folder() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "beckon-e2e-")
		if err != nil {
			return "", fmt.Errorf("making a folder for the binaries: %w", err)
		}
		b.dir = dir
	}
	return b.dir, nil
}

func (b *builder) remove() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// nodeBinary is the Node that package-lock.json pins, never the machine's own:
// the suite needs version 24.
func nodeBinary(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	return nodeFile(t, filepath.Join("node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node"))
}

// nodeFile is the absolute path of a file below node/.
func nodeFile(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("node", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("a peer is missing (make node-modules fetches it): %v", err)
	}
	return path
}
