package back

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Command is the program of a stdio backend.
type Command struct {
	Command string            // path, or a name to be found in PATH (that of Env, if it sets one)
	Args    []string          // arguments, without the name
	Env     map[string]string // set on top of Beckon's own environment, of which BECKON_* is left out
	Dir     string            // working directory; "" means Beckon's own
}

// ChildOptions configures a [Child].
type ChildOptions struct {
	Command
	Name       string        // of the backend, for the log
	MaxMessage int           // bytes of one message from the backend; 0 means [DefaultMaxMessage]. A longer one is skipped.
	StopGrace  time.Duration // how long each polite step of Close waits; 0 means 2 s
	Guard      *Guard        // ends the child if Beckon dies; nil means that only stdin's end tells it
}

// Child dials a backend that speaks over stdio: each connection is a process of
// its own.
type Child struct {
	o   ChildOptions
	log *slog.Logger
}

// NewChild returns a dialer that starts o.Command for each connection.
func NewChild(log *slog.Logger, o ChildOptions) *Child {
	o.MaxMessage = cmp.Or(o.MaxMessage, DefaultMaxMessage)
	o.StopGrace = cmp.Or(o.StopGrace, 2*time.Second)
	return &Child{o, log.With("backend", o.Name)}
}

// Dial starts the process. It does not wait for the process to say anything.
func (d *Child) Dial(ctx context.Context, r Receiver) (Conn, error) {
	if ctx.Err() != nil {
		return nil, abandoned(ctx)
	}
	cmd, err := d.o.command()
	if err != nil {
		return nil, down(err, "the backend's command cannot be started")
	}
	c, theirs, err := d.pipes(r)
	if err != nil {
		return nil, down(err, "no pipes for the backend")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	c.proc, err = startProcess(cmd, d.o.Guard)
	closeAll(theirs[:])
	if err != nil {
		closeAll([]*os.File{c.stdin, c.stdout, c.stderr})
		return nil, down(err, "the backend's command cannot be started")
	}
	c.log.Debug("backend started", "pid", cmd.Process.Pid)
	c.readers.Go(c.readMessages)
	c.readers.Go(c.readLog)
	go c.supervise()
	return c, nil
}

// pipes makes an unstarted connection, and the child's ends of its pipes.
func (d *Child) pipes(r Receiver) (c *child, theirs [3]*os.File, err error) {
	var files []*os.File
	for range 3 {
		rd, wr, err := os.Pipe()
		if err != nil {
			closeAll(files)
			return nil, theirs, fmt.Errorf("making a pipe: %w", err)
		}
		files = append(files, rd, wr)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	c = &child{
		log:   d.log,
		in:    &inbox{r: r, log: d.log},
		max:   d.o.MaxMessage,
		grace: d.o.StopGrace,
		stdin: files[1], stdout: files[2], stderr: files[4],
		turn: make(chan struct{}, 1),
		eof:  make(chan struct{}),
		ctx:  ctx, stop: stop,
		done: make(chan struct{}),
	}
	return c, [3]*os.File{files[0], files[3], files[5]}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// command prepares the process that c describes.
func (c *Command) command() (*exec.Cmd, error) {
	name, err := c.find()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, c.Args...)
	cmd.Args[0] = c.Command
	cmd.Dir = c.Dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "BECKON_") // ours to read, and it may hold tokens
	})
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		cmd.Env = append(cmd.Env, k+"="+c.Env[k])
	}
	return cmd, nil
}

// find looks the command up in the PATH that the child will have.
func (c *Command) find() (string, error) {
	path, ok := c.Env["PATH"]
	if !ok || filepath.Base(c.Command) != c.Command {
		return c.Command, nil // exec looks it up
	}
	for _, dir := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(dir, c.Command)); err == nil && dir != "" {
			return found, nil
		}
	}
	return "", &exec.Error{Name: c.Command, Err: fmt.Errorf("%w (that of its env setting)", exec.ErrNotFound)}
}
