/** Looks for files and secrets of others. Arguments: paths to try. Prints its findings as one JSON object, and tries to write to each path. */
export const SNOOP = `
import json, os, sys

def attempt(action):
    try:
        return action()
    except OSError:
        return None

def text(path):
    with open(path, 'rb') as file:
        return file.read(100_000).decode('latin1')

def append(path):
    with open(path, 'ab') as file:
        file.write(b'written by a job')

def strange(path):
    return [name for name in os.listdir(path) if not (os.getcwd() + '/').startswith(os.path.join(path, name) + '/')]

SECRETS = ('AUTH_JWT_KEYS=', 'SECRETS_MASTER_KEYS=', 'DATABASE_URL=', 'REDIS_URL=', 'BOOTSTRAP_ADMIN_PASSWORD=')
pids = [name for name in os.listdir('/proc') if name.isdigit()]
variables = [line for pid in pids for line in (attempt(lambda: text('/proc/%s/environ' % pid)) or '').split('\\0')]
commands = [attempt(lambda: text('/proc/%s/cmdline' % pid)) or '' for pid in pids]
print(json.dumps({
    'secrets': [line.split('=')[0] for line in variables if line.startswith(SECRETS)],
    'commands': [command.replace('\\0', ' ') for command in commands],
    'read': [path for path in sys.argv[1:] if attempt(lambda: text(path)) is not None],
    'listed': [path for path in sys.argv[1:] if attempt(lambda: strange(path))],
}), flush=True)
for path in sys.argv[1:]:
    attempt(lambda: append(path))
`;

/** Claims success in every file that the agent may read, and exits with 3. */
export const FORGER = `
import os
for folder in ('../..', '../../..', '../../../..'):
    for name in ('exit', 'pid', 'state.json', 'agent.json', 'started/exit'):
        try:
            with open(os.path.join(folder, name), 'w') as file:
                file.write('0\\n')
        except OSError:
            pass
for name in ('exit', 'stdout', 'pid'):
    try:
        os.remove('../../' + name)
    except OSError:
        pass
print('forged', flush=True)
os._exit(3)
`;

/** Leaves pipes and links in the agent's files, and a very deep folder. */
export const TRAPPER = `
import os, shutil
shutil.rmtree('../events')
os.mkfifo('../events')
os.mkfifo('../stdout.begin')
os.mkfifo('../fifo')
for depth in range(3000):
    os.mkdir('deeper')
    os.chdir('deeper')
print('trapped', flush=True)
`;

/** Prints more than the log keeps. */
export const CHATTERBOX = `
import sys
line = 'x' * 99 + '\\n'
for _ in range(300_000):
    sys.stdout.write(line)
print('the last words', flush=True)
`;

/**
 * Claims the event log of another run. Arguments: the folder of that run's event log, and the id of its application.
 * Without arguments it writes an event log of a made-up application that is longer than the platform keeps.
 */
export const HISTORIAN = `
import json, os, shutil, sys
if len(sys.argv) > 1:
    shutil.rmtree('../events')
    os.symlink(sys.argv[1], '../events')
    print('Connected to Spark cluster with app ID ' + sys.argv[2], file=sys.stderr)
else:
    with open('../events/local-1.inprogress', 'w') as log:
        for stage in range(300_000):
            info = {'Stage ID': stage, 'Stage Attempt ID': 0, 'Stage Name': 'x' * 100, 'Number of Tasks': -1}
            log.write(json.dumps({'Event': 'SparkListenerStageSubmitted', 'Stage Info': info}, separators=(',', ':')))
            log.write('\\n')
print('written', flush=True)
`;

/** Requests executors from a stranger's cluster without its secret. Argument: the address of its master. */
export const INTRUDER = `
import sys
from pyspark import SparkConf, SparkContext
print('asking', flush=True)
conf = SparkConf().setMaster(sys.argv[1]).set('spark.authenticate', 'false').set('spark.cores.max', '1')
context = SparkContext(conf=conf)
print('counted', context.parallelize(range(10)).count(), flush=True)
`;
