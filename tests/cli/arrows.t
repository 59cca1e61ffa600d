#!/usr/bin/perl
# arrows.t - the house rules that a compiler does not check, over lib/, hrun/ and calib/:
#   - an #include never runs against the table of rooms in ARCHITECTURE.md, and each outside library is known to
#     its own room only (table %outside);
#   - each header compiles alone, and twice in a row;
#   - comments name files of C that there are;
#   - no banned function is called (table %banned);
#   - lib/ neither prints nor ends the process.
# The rules are tried first on a made-up tree with one offence of each kind.
# Run from the top of the tree. CC and PKG_CONFIG are honoured.

use strict;
use warnings;
use File::Find ();
use File::Path qw(make_path);
use File::Spec;
use File::Temp qw(tempdir);

chdir "$ENV{HRUN_TOP}" or die "$ENV{HRUN_TOP}: $!" if $ENV{HRUN_TOP};

# What each room may include besides its own headers and lib/base: rooms, or single headers where it may see no more.
my %may = rooms('ARCHITECTURE.md');

# The table through which plan sees models must not bring the models along.
my %may_file = ('lib/model/oracle.h' => [qw(base)]);

# Headers of outside libraries, and the only folders that know them, with those below.
my @outside = (
    [qr{^hwloc[./]}        => 'lib/cluster'],
    [qr{^gsl/}             => 'lib/fit'],
    [qr{^pmix}             => 'lib/launch'],
    [qr{^csv\.h$}          => 'lib/store'],
    [qr{^(simgrid|smpi|xbt)/} => 'hrun', 'calib/mpi'],
    [qr{^ompi?(-|_|/|\.)|^mpi\.h$} => 'calib', 'hrun/preloaded'],
);

# Calls that may not stand anywhere, and what to write instead.
my %banned = (
    strcpy  => 'snprintf or struct hrun_buf',
    strcat  => 'snprintf or struct hrun_buf',
    sprintf => 'snprintf or struct hrun_buf',
    gets    => 'hrun_file_read',
    strtok  => 'strtok_r',
    atoi    => 'hrun_parse_count',
    system  => 'fork and exec without a shell',
    popen   => 'fork and exec without a shell',
    tmpnam  => 'hrun_rundir_create',
    mktemp  => 'hrun_rundir_create',
    alloca  => 'malloc',
);

# Calls that lib/ leaves to hrun/ and calib/. _exit is not among them: a forked child has nothing else.
my %mute = map { $_ => 'fill struct hrun_error and return' }
    qw(printf vprintf puts putchar perror psignal exit quick_exit abort assert err errx warn warnx error);

my %used;       # "ROOM INCLUDED": met in a tree
my ($count, $failed) = (0, 0);
$ENV{LC_ALL} = 'C';     # the compiler's words

sub ok {
    my ($good, $name, @notes) = @_;
    $count++;
    $failed++ unless $good;
    print $good ? 'ok' : 'not ok', " $count - $name\n";
    print map { "#   $_\n" } @notes unless $good;
    return $good;
}

# The column "includes" of the table of rooms: room => [rooms].
sub rooms {
    my ($path) = @_;
    my %rooms;
    open my $in, '<', $path or die "$path: $!";
    while (<$in>) {
        my ($name, $includes) = m{^\| (?:lib/(?=\S)|(?=hrun|calib))(\S+) \| [^|]* \| ([^|]*) \|} or next;
        $rooms{$name} = [$name =~ m{^(base|calib/mpi)$} ? () : 'base', grep { $_ ne '-' } split ' ', $includes]
            if $includes =~ /\S/ && $includes ne 'includes';
    }
    close $in;
    return %rooms;
}

# ---------------------------------------------------------------- reading sources

# C and header files below $top in the three folders, as "lib/base/buf.c".
sub sources {
    my ($top) = @_;
    my @found;
    for my $dir (grep { -d "$top/$_" } qw(lib hrun calib)) {
        File::Find::find({ no_chdir => 1, wanted => sub {
            push @found, File::Spec->abs2rel($_, $top) if /\.[ch]$/ && -f;
        } }, "$top/$dir");
    }
    return sort @found;
}

# Text of a file without comments; without what stands in strings too if $strings. Line numbers are kept.
sub code {
    my ($path, $strings) = @_;
    open my $in, '<', $path or die "$path: $!";
    local $/;
    my $text = <$in>;
    close $in;
    $text =~ s{(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}{
        my ($comment, $string) = ($1, $2);
        my $kept = $comment // $string;
        defined $string && !$strings ? $string
            : (defined $string ? substr($string, 0, 1) x 2 : ' ') . "\n" x ($kept =~ tr/\n//);
    }gsex;
    return $text;
}

# The room of a file as the table calls it: "plan" of "lib/plan/plan.c", "hrun/jobs" of "hrun/jobs/jobs_read.c".
sub room {
    my ($file) = @_;
    (my $short = $file) =~ s{^lib/}{};
    return $short =~ m{^([^/]+/[^/]+)/} && $may{$1} ? $1 : $short =~ m{^([^/]+)/} ? $1 : '';
}

# "lib/base/buf.h" for what `name` in a quoted include of $file means; undef if it is no file of the tree.
sub resolve {
    my ($top, $file, $name) = @_;
    (my $dir = $file) =~ s{/[^/]*$}{};
    for my $path ("$dir/$name", "lib/$name", $name) {
        my @parts;
        for my $part (split m{/}, $path) {
            if ($part eq '..') { pop @parts } elsif ($part ne '.') { push @parts, $part }
        }
        my $plain = join '/', @parts;
        return $plain if -f "$top/$plain";
    }
    return undef;
}

# ---------------------------------------------------------------- the rules

# Why $file may not include $target (both paths in the tree), or ''.
sub arrow {
    my ($file, $target) = @_;
    my ($from, $to) = (room($file), room($target));
    my $allowed = $may_file{$file};
    (my $short = $target) =~ s{^lib/}{};
    $used{"$from $to"} = $used{"$from $short"} = 1;

    return '' if $target eq 'lib/hrun.h';   # what libhrun shows
    return "lib/ must not know $to/" if $file =~ m{^lib/} && $target !~ m{^lib/};
    return "room '$from' is not in the table of rooms" if !$may{$from};
    return '' if !$allowed && $from eq $to;
    my $who = $allowed ? $file : $from;
    $allowed //= $may{$from};
    return '' if grep { $_ eq $to || $_ eq $short } @$allowed;
    return "$who may include only: " . (@$allowed ? join(' ', @$allowed) : 'its own headers');
}

# All offences in a tree against arrows and outside libraries, "FILE:LINE: why".
sub bad_includes {
    my ($top) = @_;
    my @bad;
    for my $file (sources($top)) {
        my $line = 0;
        for (split /\n/, code("$top/$file", 0)) {
            $line++;
            next unless /^\s*#\s*include\b\s*(.*?)\s*$/;
            my $what = $1;
            if ($what =~ /^"([^"]+)"$/) {
                my $name = $1;
                my $target = resolve($top, $file, $name);
                if (!defined $target) {
                    push @bad, "$file:$line: $name is no file of the tree";
                    next;
                }
                my $why = arrow($file, $target);
                push @bad, "$file:$line: includes $name: $why" if $why;
            } elsif ($what =~ /^<([^>]+)>$/) {
                my $name = $1;
                for (@outside) {
                    my ($match, @owners) = @$_;
                    push @bad, "$file:$line: includes <$name>: only $owners[0]/ knows it"
                        if $name =~ $match && !grep { $file =~ m{^\Q$_\E/} } @owners;
                }
                push @bad, "$file:$line: includes <$name>: write \"$name\"" if -f "$top/lib/$name";
            } else {
                push @bad, "$file:$line: an include that cannot be read: $what";
            }
        }
    }
    return @bad;
}

# Files whose first comment bears another file's name, and comments that name a file of C that the tree does not have,
# "FILE: why".
sub bad_file_names {
    my ($top) = @_;
    my %known = map { m{([^/]+)$} ? ($1 => 1) : () } @{ [sources($top)] };
    $known{$_} = 1 for qw(mpi.h mpif.h io_hdr.h NAME.c NAME.h);         # of others, and in advice
    my @bad;
    for my $file (sources($top)) {
        open my $in, '<', "$top/$file" or die "$file: $!";
        my $text = do { local $/; <$in> };
        close $in;
        my ($own) = $file =~ m{([^/]+)$};
        push @bad, "$file: its first comment is of $1" if $text =~ m{\A/\* (\w+\.[ch]) - } && $1 ne $own;
        for my $comment ($text =~ m{/\*.*?\*/}gs) {
            push @bad, map { "$file: names $_, which is no file" }
                grep { !$known{$_} && !-e "/usr/include/$_" } $comment =~ m{(?<![\w./-])(\w+\.[ch])\b}g;
        }
    }
    return @bad;
}

# Calls in files that match $where of functions in the table. A member (x.abort, p->exit) is no such call, nor
# is the name in an attribute: format(printf, 1, 2).
sub bad_calls {
    my ($top, $where, $table) = @_;
    my $names = join '|', sort keys %$table;
    my @bad;
    for my $file (grep { $_ =~ $where } sources($top)) {
        my $line = 0;
        for (split /\n/, code("$top/$file", 1)) {
            $line++;
            while (/(?<![\w.>])($names)\s*\(/g) {
                push @bad, "$file:$line: calls $1: write $table->{$1}";
            }
        }
    }
    return @bad;
}

# Flags as the Makefile gives them: -Ilib and those of the packages.
sub compile_flags {
    my $packages = '';
    if (open my $in, '<', 'Makefile') {
        while (<$in>) {
            $packages = $1 if /^PKGS\s*:?=\s*(.*)/;
        }
        close $in;
    }
    my $pkg_config = $ENV{PKG_CONFIG} || 'pkg-config';
    my $flags = $packages ? `$pkg_config --cflags $packages` : '';
    # mpi.h, which only calib/ includes, is found by MPI's compiler.
    my $mpi = `mpicc --showme:compile 2>/dev/null`;
    return "-std=c11 -D_GNU_SOURCE $flags $mpi" =~ s/\n//gr;
}

# Headers of a tree that do not compile alone, with the compiler's first words.
sub bad_headers {
    my ($top, $flags) = @_;
    my $cc = $ENV{CC} || 'cc';
    my @bad;
    for my $file (grep { /\.h$/ } sources($top)) {
        my $pid = open my $out, '-|';
        die "fork: $!" unless defined $pid;
        if (!$pid) {
            open STDERR, '>&', \*STDOUT;
            chdir $top or die "$top: $!";
            # Twice, which a missing guard does not bear.
            my $unit = "#include \"$file\"\n" x 2;
            exec 'sh', '-c', "printf '%s' \"\$1\" | "
                . "$cc $flags -Ilib -I. -Wall -Wextra -Werror -fsyntax-only -x c -", 'sh', $unit;
            die "sh: $!";
        }
        my @words = <$out>;
        chomp @words;
        next if close $out;
        my $why = (grep { /error/ } @words)[0] // $words[0] // "status $?";
        push @bad, "$file: does not compile alone: $why";
    }
    return @bad;
}

# ---------------------------------------------------------------- the rules, tried

# The table of rooms has no cycle: going along "may include" from a room never leads back to it.
sub reaches {
    my ($from, $to, $seen) = @_;
    for my $next (map { $may{$_} ? $_ : s{/.*}{}r } @{ $may{$from} }) {
        return 1 if $next eq $to;
        return 1 if !$seen->{$next}++ && reaches($next, $to, $seen);
    }
    return 0;
}

sub made_up_tree {
    my ($top, %files) = @_;
    for my $file (keys %files) {
        (my $dir = "$top/$file") =~ s{/[^/]*$}{};
        make_path($dir);
        open my $out, '>', "$top/$file" or die "$file: $!";
        print $out $files{$file};
        close $out or die "$file: $!";
    }
    return $top;
}

my %good = (
    'lib/base/buf.h'     => "#ifndef B\n#define B\n#include <stddef.h>\nstruct b { size_t n; };\n#endif\n",
    'lib/fit/fit.h'      => "#ifndef F\n#define F\n#include \"base/buf.h\"\n"
        . "struct f { struct b b; };\n#endif\n",
    'lib/model/oracle.h' => "#include \"base/buf.h\"\n",
    'lib/model/model.h'  => "#include \"model/oracle.h\"\n",
    'lib/plan/plan.h'    => "#include \"model/oracle.h\" /* no more than that */\n",
    'lib/cluster/topo.h' => "/* nothing */\n",
    'lib/launch/launch.h' => "/* nothing */\n",
    'lib/fit/ls.c'       => "#include \"fit/fit.h\"\n#include <gsl/gsl_linalg.h>\n"
        . "/* strcpy(a, b); #include \"plan/plan.h\" */\n// exit(1)\n"
        . "const char *s = \"exit(1) \\\" gets(x)\"; int c = '\"';\n"
        . "void f(struct m *m) { m->abort(); m->x.exit (1); snprintf(0, 0, \"\"); strtok_r(0, 0, 0); }\n"
        . "void g(void) { _exit(1); }\n",
    'hrun/run/run.h'     => "#include \"model/model.h\"\n",
    'hrun/main.c'        => "#include \"run/run.h\"\n#include \"base/buf.h\"\n"
        . "int main(void) { printf(\"x\"); exit(0); }\n",
    'calib/calib.h'      => "/* nothing */\n",
    'calib/common/common.h' => "/* nothing */\n",
    'calib/main.c'       => "#include \"common/common.h\"\n#include <mpi.h>\n",
);

# file, what is added to it, what must be said
my @offences = (
    ['lib/base/buf.c', "#include \"fit/fit.h\"\n",
     "lib/base/buf.c:1: includes fit/fit.h: base may include only: its own"],
    ['lib/fit/bad.c', "\n#include \"cluster/topo.h\"\n",
     "lib/fit/bad.c:2: includes cluster/topo.h: fit may include only: base"],
    ['lib/plan/bad.c', "#include \"model/model.h\"\n",
     "lib/plan/bad.c:1: includes model/model.h: plan may include only"],
    ['lib/model/bad.c', "#include \"plan/plan.h\"\n",
     "lib/model/bad.c:1: includes plan/plan.h: model may include"],
    ['lib/model/oracle.h', "#include \"model/model.h\"\n",
     "oracle.h:1: includes model/model.h: lib/model/oracle.h may"],
    ['lib/launch/bad.c', " #  include  \"fit/fit.h\" \n",
     "lib/launch/bad.c:1: includes fit/fit.h: launch may include"],
    ['lib/fit/bad.c', "#include \"../plan/plan.h\"\n",
     "lib/fit/bad.c:1: includes ../plan/plan.h: fit may include only"],
    ['lib/launch/bad.c', "#include \"../../hrun/run/run.h\"\n",
     "lib/launch/bad.c:1: includes ../../hrun/run/run.h: lib/ must not"],
    ['lib/odd/bad.c', "#include \"base/buf.h\"\n",
     "lib/odd/bad.c:1: includes base/buf.h: room 'odd' is not in the table"],
    ['hrun/bad.c', "#include \"calib/x.h\"\n", "hrun/bad.c:1: calib/x.h is no file of the tree"],
    ['hrun/bad.c', "#include \"../calib/calib.h\"\n",
     "hrun/bad.c:1: includes ../calib/calib.h: hrun may include only"],
    ['calib/mpi/bad.c', "#include \"base/buf.h\"\n",
     "calib/mpi/bad.c:1: includes base/buf.h: calib/mpi may include only: its own"],
    ['hrun/bad.c', "#include <hwloc.h>\n", "hrun/bad.c:1: includes <hwloc.h>: only lib/cluster/ knows it"],
    ['lib/model/bad.c', "#include <gsl/gsl_fit.h>\n",
     "lib/model/bad.c:1: includes <gsl/gsl_fit.h>: only lib/fit/"],
    ['calib/bad.c', "#include <pmix_server.h>\n",
     "calib/bad.c:1: includes <pmix_server.h>: only lib/launch/"],
    ['lib/launch/bad.c', "#include <mpi.h>\n", "lib/launch/bad.c:1: includes <mpi.h>: only calib/"],
    ['lib/plan/bad.c', "#include <model/model.h>\n",
     "lib/plan/bad.c:1: includes <model/model.h>: write \"model"],
    ['lib/plan/bad.c', "#include PLAN_H\n", "lib/plan/bad.c:1: an include that cannot be read: PLAN_H"],
    ['lib/plan/bad.c', "/* a\n b */ char *s = \"/*\"; void f(void) { strcpy (a, b); }\n",
     "lib/plan/bad.c:2: calls strcpy"],
    ['hrun/bad.c', "int f(void) { return atoi(\"1\"); }\n",
     "hrun/bad.c:1: calls atoi: write hrun_parse_count"],
    ['calib/bad.c', "\nint f(void) { return 1+system(\"x\"); }\n", "calib/bad.c:2: calls system"],
    ['lib/plan/bad.c', "void f(void) { printf(\"x\"); }\n",
     "lib/plan/bad.c:1: calls printf: write fill struct"],
    ['lib/plan/bad.h', "static inline void f(void)\n{\n    exit(1);\n}\n", "lib/plan/bad.h:3: calls exit"],
    ['lib/plan/bad.c', "/* good.c - a head */\n", "lib/plan/bad.c: its first comment is of good.c"],
    ['lib/plan/bad.c', "/* as in gone.c */\n", "lib/plan/bad.c: names gone.c, which is no file"],
    ['lib/plan/bad.h', "struct x { size_t n; };\n",
     "lib/plan/bad.h: does not compile alone: lib/plan/bad.h:1:12"],
    ['lib/plan/bad.h', "struct x { int n; };\n",
     "lib/plan/bad.h: does not compile alone: lib/plan/bad.h:1:8"],
);

# The names `with_underscores` of a document that no source has.
sub unknown_names {
    my ($document, @sources) = @_;
    my %known = map { $_ => 1 } map { code($_) =~ /\w+/g } @sources;
    return map { "$document: no source has $_" } grep { !$known{$_} } join('', do { open my $in, '<', $document or die "$document: $!"; <$in> }) =~ /`([a-z][a-z0-9]*_[a-z0-9_]+)`/g;
}

# All rules on one tree.
sub offences {
    my ($top, $flags) = @_;
    return (bad_includes($top), bad_file_names($top), bad_calls($top, qr{^}, \%banned), bad_calls($top, qr{^lib/}, \%mute),
            bad_headers($top, $flags));
}

# The programs' folders are no rooms of a library: their main functions and subcommands know each other.
my @cycles = grep { !m{^(hrun|calib)\b} && reaches($_, $_, {}) } sort keys %may;
ok(!@cycles, 'the table of rooms has no cycle', @cycles);
my @said = offences(made_up_tree(tempdir(CLEANUP => 1), %good), '-std=c11');
ok(!@said, 'a good made-up tree has no offence', @said);
for (@offences) {
    my ($file, $text, $want) = @$_;
    my $top = made_up_tree(tempdir(CLEANUP => 1), %good, $file => $text);
    # Only what is about the added file: a broken header shows in those that include it, too.
    @said = $want =~ /alone/ ? bad_headers($top, '-std=c11') : grep { !/alone/ } offences($top, '-std=c11');
    my $strays = grep { index($_, $file) < 0 } @said;
    ok((grep { index($_, $want) >= 0 } @said) && !$strays, "caught: $want", @said);
}

# ---------------------------------------------------------------- the tree

my @sources = sources('.');
my ($in_lib, $in_hrun) = (scalar(grep { m{^lib/} } @sources), scalar(grep { m{^hrun/} } @sources));
ok($in_lib > 20 && $in_hrun > 0, 'the sources are found', @sources);
my @missing = grep { !$may{$_} } map { room($_) } grep { $_ ne 'lib/hrun.h' } @sources;
ok(!@missing, 'each room is in the table', @missing);
%used = ();
my @bad = bad_includes('.');
ok(!@bad, 'no #include runs against the order of the rooms', @bad);
my @idle = map { my $room = $_; map { "$room: $_" } grep { $_ ne q(base) && !$used{"$room $_"} } @{ $may{$room} } } sort keys %may;
ok(!@idle, 'each entry of the table of rooms is needed', @idle);
@bad = bad_headers('.', compile_flags());
ok(!@bad, 'each header compiles alone', @bad);
@bad = bad_file_names('.');
ok(!@bad, 'comments name files that there are', @bad);
@bad = unknown_names('ARCHITECTURE.md', @sources);
ok(!@bad, 'ARCHITECTURE.md names functions that there are', @bad);
@bad = bad_calls('.', qr{^}, \%banned);
ok(!@bad, 'no banned function is called', @bad);
@bad = bad_calls('.', qr{^lib/}, \%mute);
ok(!@bad, 'lib/ does not print and does not end the process', @bad);

# ---------------------------------------------------------------- the drawing

ok(system('man/figures/draw', '--check') == 0, 'the figures are drawn from their text, and name functions that exist');

print "1..$count\n";
exit($failed ? 1 : 0);
