//! Names of standard libraries, and where they come from.

use std::sync::LazyLock;

use nudge_syntax::{
    Language,
    imports::{ImportStyle, ImportedName},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Modules that are used by their name, as far as no variable is likely to have it.
const PYTHON: &str = "\
    argparse asyncio base64 bisect collections contextlib copy csv ctypes dataclasses datetime decimal enum errno \
    functools gc glob gzip hashlib heapq hmac importlib inspect io itertools json logging math mimetypes \
    multiprocessing operator os pathlib pickle platform pprint random re secrets shlex shutil signal socket sqlite3 ssl \
    stat statistics string struct subprocess sys tempfile textwrap threading time traceback types typing unittest \
    urllib uuid warnings weakref zipfile zlib";

/// The other modules, as far as they do not begin with an underscore.
const PYTHON_TOO: &str = "\
    abc array ast asynchat asyncore atexit audioop bdb binascii builtins bz2 cProfile calendar cgi cgitb chunk cmath \
    cmd code codecs codeop colorsys compileall concurrent configparser contextvars copyreg crypt curses dbm difflib dis \
    distutils doctest email encodings ensurepip faulthandler fcntl filecmp fileinput fnmatch fractions ftplib \
    genericpath getopt getpass gettext graphlib grp html http imaplib imghdr imp ipaddress keyword lib2to3 linecache \
    locale lzma mailbox mailcap marshal mmap modulefinder msvcrt netrc nntplib ntpath numbers opcode optparse pdb \
    pickletools pkgutil plistlib poplib posix posixpath profile pstats pty pwd py_compile pyclbr pydoc queue quopri \
    readline reprlib resource rlcompleter runpy sched select selectors shelve site smtpd smtplib sndhdr socketserver \
    spwd sre_compile sre_constants sre_parse stringprep symtable sysconfig syslog tabnanny tarfile telnetlib termios \
    test timeit tkinter token tokenize tomllib trace tracemalloc tty turtle unicodedata uu venv wave webbrowser winreg \
    winsound wsgiref xdrlib xml xmlrpc zipapp zipimport zoneinfo";

/// Packages, by their paths; the last part is the name. Two of one name are left out.
const GO: &str = "\
    bufio bytes compress/gzip context crypto/hmac crypto/md5 crypto/sha1 crypto/sha256 crypto/tls crypto/x509 \
    database/sql embed encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex encoding/json \
    encoding/xml errors flag fmt io io/fs io/ioutil log log/slog maps math math/big math/bits mime/multipart net \
    net/http net/http/httptest net/url os os/exec os/signal path path/filepath reflect regexp runtime runtime/debug \
    slices sort strconv strings sync sync/atomic syscall testing text/tabwriter time unicode unicode/utf8 unsafe";

/// Packages and their classes, without those that others have too.
const JAVA: &[(&str, &str)] = &[
    (
        "java.util",
        "ArrayDeque ArrayList Arrays Collection Collections Comparator Deque EnumMap EnumSet HashMap HashSet Iterator \
         LinkedHashMap LinkedHashSet LinkedList List ListIterator Locale Map NavigableMap NoSuchElementException \
         Objects Optional OptionalDouble OptionalInt OptionalLong PriorityQueue Properties Queue Random Scanner Set \
         SortedMap SortedSet StringJoiner TreeMap TreeSet UUID",
    ),
    (
        "java.util.concurrent",
        "Callable CompletableFuture ConcurrentHashMap ConcurrentMap CopyOnWriteArrayList CountDownLatch \
         ExecutionException ExecutorService Executors ScheduledExecutorService ThreadLocalRandom TimeUnit",
    ),
    ("java.util.concurrent.atomic", "AtomicBoolean AtomicInteger AtomicLong AtomicReference"),
    ("java.util.function", "BiConsumer BiFunction BinaryOperator Consumer Supplier UnaryOperator"),
    ("java.util.regex", "Matcher Pattern"),
    ("java.util.stream", "Collectors IntStream LongStream Stream"),
    (
        "java.io",
        "BufferedReader BufferedWriter ByteArrayInputStream ByteArrayOutputStream File FileInputStream \
         FileNotFoundException FileOutputStream FileReader FileWriter IOException InputStream InputStreamReader \
         OutputStream PrintStream PrintWriter Serializable UncheckedIOException",
    ),
    ("java.nio.charset", "StandardCharsets"),
    ("java.nio.file", "Files Path Paths"),
    ("java.math", "BigDecimal BigInteger"),
    ("java.time", "Duration Instant LocalDate LocalDateTime LocalTime ZoneId ZonedDateTime"),
];

/// Headers and what they declare in `std`.
const CPP: &[(&str, &str)] = &[
    (
        "algorithm",
        "all_of any_of binary_search copy_if count_if fill find_if find_if_not for_each lower_bound max_element \
         min_element none_of nth_element partial_sort partition remove_if replace_if reverse sort stable_sort transform \
         unique upper_bound",
    ),
    ("any", "any any_cast"),
    ("array", "array"),
    ("atomic", "atomic"),
    ("bitset", "bitset"),
    ("chrono", "chrono"),
    ("cmath", "ceil floor fmod pow sqrt"),
    ("condition_variable", "condition_variable"),
    ("deque", "deque"),
    ("filesystem", "filesystem"),
    ("fstream", "fstream ifstream ofstream"),
    ("functional", "function"),
    ("future", "async future promise"),
    ("iomanip", "setfill setprecision setw"),
    ("iostream", "cerr cin cout"),
    ("limits", "numeric_limits"),
    ("list", "list"),
    ("map", "map multimap"),
    ("memory", "enable_shared_from_this make_shared make_unique shared_ptr unique_ptr weak_ptr"),
    ("mutex", "lock_guard mutex once_flag scoped_lock unique_lock"),
    ("numeric", "accumulate iota"),
    ("optional", "nullopt optional"),
    ("queue", "priority_queue queue"),
    ("regex", "regex regex_match regex_replace regex_search"),
    ("set", "multiset set"),
    ("span", "span"),
    ("sstream", "istringstream ostringstream stringstream"),
    ("stack", "stack"),
    ("stdexcept", "invalid_argument logic_error out_of_range runtime_error"),
    ("string", "getline stod stoi stol string to_string wstring"),
    ("string_view", "string_view"),
    ("thread", "thread"),
    ("tuple", "make_tuple tie tuple"),
    ("type_traits", "decay_t enable_if_t is_same is_same_v"),
    ("unordered_map", "unordered_map"),
    ("unordered_set", "unordered_set"),
    ("variant", "monostate variant"),
    ("vector", "vector"),
];

/// Namespaces and their types.
const CSHARP: &[(&str, &str)] = &[
    ("System.Collections.Concurrent", "ConcurrentBag ConcurrentDictionary ConcurrentQueue"),
    (
        "System.Collections.Generic",
        "Dictionary HashSet ICollection IDictionary IEnumerable IEnumerator IList IReadOnlyCollection \
         IReadOnlyDictionary IReadOnlyList ISet KeyValuePair LinkedList List Queue SortedDictionary Stack",
    ),
    ("System.Diagnostics", "Debug Process Stopwatch"),
    ("System.Globalization", "CultureInfo"),
    (
        "System.IO",
        "Directory File FileStream MemoryStream Path Stream StreamReader StreamWriter StringReader",
    ),
    ("System.Linq", "Enumerable"),
    ("System.Net.Http", "HttpClient HttpRequestMessage HttpResponseMessage"),
    ("System.Text", "Encoding StringBuilder"),
    ("System.Text.RegularExpressions", "Regex RegexOptions"),
    ("System.Threading", "CancellationToken CancellationTokenSource Interlocked SemaphoreSlim Thread"),
    ("System.Threading.Tasks", "Task TaskCompletionSource ValueTask"),
];

type Table = FxHashMap<&'static str, &'static str>;

static OF_PYTHON: LazyLock<Table> =
    LazyLock::new(|| PYTHON.split_whitespace().map(|module| (module, module)).collect());
static OF_GO: LazyLock<Table> = LazyLock::new(|| {
    GO.split_whitespace().map(|path| (path.rsplit('/').next().unwrap_or(path), path)).collect()
});
static OF_JAVA: LazyLock<Table> = LazyLock::new(|| by_name(JAVA));
static OF_CPP: LazyLock<Table> = LazyLock::new(|| by_name(CPP));
static OF_CSHARP: LazyLock<Table> = LazyLock::new(|| by_name(CSHARP));

fn by_name(table: &[(&'static str, &'static str)]) -> Table {
    table.iter().flat_map(|&(from, names)| names.split_whitespace().map(move |name| (name, from))).collect()
}

/// Where a name comes from, if it is one of the standard library of a language.
pub(super) fn origin(language: Language, name: &str) -> Option<&'static str> {
    let table = match language {
        Language::Python => &OF_PYTHON,
        Language::Go => &OF_GO,
        Language::Java => &OF_JAVA,
        Language::Cpp => &OF_CPP,
        Language::CSharp => &OF_CSHARP,
        _ => return None,
    };
    table.get(name).copied()
}

/// Whether a module of Python comes with it.
pub(super) fn is_python(module: &str) -> bool {
    static OTHERS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| PYTHON_TOO.split_whitespace().collect());
    OF_PYTHON.contains_key(module) || OTHERS.contains(module)
}

/// The import that brings a name of the standard library.
pub(super) fn import(language: Language, name: &str) -> Option<ImportedName> {
    let module = origin(language, name)?;
    let (module, style) = match language {
        Language::Cpp => (format!("<{module}>"), ImportStyle::Glob),
        Language::CSharp => (module.to_owned(), ImportStyle::Glob),
        Language::Java => (module.to_owned(), ImportStyle::Named),
        _ => (module.to_owned(), ImportStyle::Module),
    };
    Some(ImportedName { name: name.to_owned(), original: None, module, style, type_only: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_comes_from_two_places() {
        for (table, whole) in [(JAVA, &OF_JAVA), (CPP, &OF_CPP), (CSHARP, &OF_CSHARP)] {
            let count: usize = table.iter().map(|(_, names)| names.split_whitespace().count()).sum();
            assert_eq!(count, whole.len());
        }
        assert_eq!(GO.split_whitespace().count(), OF_GO.len());
    }
}
