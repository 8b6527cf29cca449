package mounts

import java.io.{FileNotFoundException, IOException}
import java.net.URI
import java.util.{EnumSet, List => JavaList, Map => JavaMap}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs._
import org.apache.hadoop.fs.permission.{AclEntry, AclStatus, FsPermission}
import org.apache.hadoop.security.AccessControlException
import org.apache.hadoop.util.Progressable

/**
 * The local file system with object stores mounted into it, as the default file system of a run. A path below a mount
 * point is one of its store, any other path is a local one, relative ones included. As on Unix, the longest mount point
 * counts, a mount point is a directory that is always there, and nothing is renamed out of its mount.
 *
 * Configuration: `fs.mounts.count`, and for each from 0 on `fs.mounts.<n>.point` (`/mnt/data`), `fs.mounts.<n>.target`
 * (`s3a://bucket/folder`) and `fs.mounts.<n>.read-only`. A change of what is mounted read-only is an
 * AccessControlException that names the mount point.
 */
class MountFileSystem extends FileSystem {
  private var mounts: Seq[Mount] = Nil
  private var local: Mount = _
  private var workingDirectory: Path = _

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    setConf(conf)
    local = new Mount("", new Path("file:///"), readOnly = false, conf)
    mounts = (0 until conf.getInt("fs.mounts.count", 0))
      .map { n =>
        val target = new Path(conf.get(s"fs.mounts.$n.target"))
        new Mount(conf.get(s"fs.mounts.$n.point"), target, conf.getBoolean(s"fs.mounts.$n.read-only", false), conf)
      }
      .sortBy(-_.point.length)
    workingDirectory = local.ours(local.fs.getWorkingDirectory)
  }

  override def getScheme: String = Mount.Scheme
  override def getUri: URI = Mount.Root
  override def getWorkingDirectory: Path = workingDirectory
  override def setWorkingDirectory(path: Path): Unit = workingDirectory = makeQualified(path)
  override def getHomeDirectory: Path = local.ours(local.fs.getHomeDirectory)

  override def open(path: Path, bufferSize: Int): FSDataInputStream = read(path)(_.open(_, bufferSize))
  override def getFileChecksum(path: Path, length: Long): FileChecksum = read(path)(_.getFileChecksum(_, length))
  override def getDefaultBlockSize(path: Path): Long = read(path)(_.getDefaultBlockSize(_))
  override def getDefaultReplication(path: Path): Short = read(path)(_.getDefaultReplication(_))
  override def getServerDefaults(path: Path): FsServerDefaults = read(path)(_.getServerDefaults(_))
  override def getStatus(path: Path): FsStatus = read(path)(_.getStatus(_))
  override def getXAttr(path: Path, name: String): Array[Byte] = read(path)(_.getXAttr(_, name))
  override def getXAttrs(path: Path): JavaMap[String, Array[Byte]] = read(path)(_.getXAttrs(_))
  override def listXAttrs(path: Path): JavaList[String] = read(path)(_.listXAttrs(_))
  override def getAclStatus(path: Path): AclStatus = read(path)(_.getAclStatus(_))
  override def setVerifyChecksum(verify: Boolean): Unit = local.fs.setVerifyChecksum(verify)
  override def setWriteChecksum(write: Boolean): Unit = local.fs.setWriteChecksum(write)

  override def getFileStatus(path: Path): FileStatus = {
    val mount = mountOf(path)
    try new MountStatus(mount.fs.getFileStatus(mount.theirs(absolute(path))), makeQualified(path))
    catch { case _: FileNotFoundException if holdsMount(path) => directory(makeQualified(path)) }
  }

  override def listStatus(path: Path): Array[FileStatus] = {
    val mount = mountOf(path)
    val below = mountsBelow(path).map(_.point.stripPrefix(withSlash(absolute(path))).takeWhile(_ != '/')).distinct
    val stored =
      try mount.fs.listStatus(mount.theirs(absolute(path)))
      catch { case _: FileNotFoundException if holdsMount(path) => Array.empty[FileStatus] }
    val own = stored.map(status => new MountStatus(status, mount.ours(status.getPath)): FileStatus)
    own.filterNot(status => below.contains(status.getPath.getName)) ++
      below.map(name => directory(new Path(makeQualified(path), name)))
  }

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream =
    write(path)(_.create(_, permission, overwrite, bufferSize, replication, blockSize, progress))

  override def createNonRecursive(
      path: Path,
      permission: FsPermission,
      flags: EnumSet[CreateFlag],
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable): FSDataOutputStream =
    write(path)(_.createNonRecursive(_, permission, flags, bufferSize, replication, blockSize, progress))

  override def append(path: Path, bufferSize: Int, progress: Progressable): FSDataOutputStream =
    write(path)(_.append(_, bufferSize, progress))
  override def truncate(path: Path, length: Long): Boolean = write(path)(_.truncate(_, length))
  override def setPermission(path: Path, permission: FsPermission): Unit = write(path)(_.setPermission(_, permission))
  override def setOwner(path: Path, user: String, group: String): Unit = write(path)(_.setOwner(_, user, group))
  override def setTimes(path: Path, modified: Long, read: Long): Unit = write(path)(_.setTimes(_, modified, read))
  override def setReplication(path: Path, copies: Short): Boolean = write(path)(_.setReplication(_, copies))
  override def setAcl(path: Path, entries: JavaList[AclEntry]): Unit = write(path)(_.setAcl(_, entries))
  override def removeXAttr(path: Path, name: String): Unit = write(path)(_.removeXAttr(_, name))
  override def setXAttr(path: Path, name: String, value: Array[Byte], flags: EnumSet[XAttrSetFlag]): Unit =
    write(path)(_.setXAttr(_, name, value, flags))

  override def mkdirs(path: Path, permission: FsPermission): Boolean =
    // To make a directory that is there already changes nothing, and readers do so, too.
    holdsMount(path) || mountOf(path).readOnly && isFolder(path) || write(path)(_.mkdirs(_, permission))

  private def isFolder(path: Path): Boolean =
    try getFileStatus(path).isDirectory
    catch { case _: FileNotFoundException => false }

  override def rename(source: Path, target: Path): Boolean = {
    refuseMountsIn(source, "renamed")
    val mount = mountOf(source)
    if (mountOf(target) ne mount) throw new IOException(s"$source cannot be renamed to $target, which is another mount.")
    write(source)(_.rename(_, mount.theirs(absolute(target))))
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    if (mountsBelow(path).nonEmpty) refuseMountsIn(path, "deleted")
    if (mounts.exists(_.point == absolute(path))) empty(path, recursive) else write(path)(_.delete(_, recursive))
  }

  /** To delete a mount point is to delete what it holds: the mount itself stays, and stores do not delete their root. */
  private def empty(path: Path, recursive: Boolean): Boolean = {
    val held = listStatus(path)
    if (held.nonEmpty && !recursive) throw new PathIsNotEmptyDirectoryException(path.toString)
    // Not by `new Path(folder, name)`, which takes what is before a colon in the name for a scheme.
    val mount = mountOf(path)
    write(path) { (fs, _) => held.forall(status => fs.delete(mount.theirs(absolute(status.getPath)), true)) }
  }

  private def read[T](path: Path)(action: (FileSystem, Path) => T): T = {
    val mount = mountOf(path)
    action(mount.fs, mount.theirs(absolute(path)))
  }

  /** The one way to a store's changing operations. */
  private def write[T](path: Path)(action: (FileSystem, Path) => T): T = {
    val mount = mountOf(path)
    if (mount.readOnly) throw new AccessControlException(s"The mount ${mount.point} is read-only.")
    action(mount.fs, mount.theirs(absolute(path)))
  }

  private def absolute(path: Path): String = {
    checkPath(path)
    makeQualified(path).toUri.getPath
  }

  private def mountOf(path: Path): Mount = {
    val name = absolute(path)
    mounts.find(mount => mount.point == name || name.startsWith(withSlash(mount.point))).getOrElse(local)
  }

  private def mountsBelow(path: Path): Seq[Mount] = {
    val folder = withSlash(absolute(path))
    mounts.filter(_.point.startsWith(folder))
  }

  private def holdsMount(path: Path): Boolean =
    mounts.exists(_.point == absolute(path)) || mountsBelow(path).nonEmpty

  private def refuseMountsIn(path: Path, done: String): Unit =
    if (holdsMount(path)) throw new IOException(s"$path cannot be $done: it is a mount point, or holds one.")

  private def directory(path: Path): FileStatus = new FileStatus(0, true, 0, 0, 0, path)

  private def withSlash(name: String): String = if (name.endsWith("/")) name else s"$name/"
}

private object Mount {
  val Scheme = "mounts"
  val Root: URI = URI.create(s"$Scheme:///")
}

/** A mount point and what lies there; the store is first spoken to when a path of it is used. */
private class Mount(val point: String, target: Path, val readOnly: Boolean, conf: Configuration) {
  lazy val fs: FileSystem = target.getFileSystem(conf)
  private val address = target.toUri
  private val folder = address.getPath.stripSuffix("/")

  /** @param path absolute, at the mount point or below */
  def theirs(path: String): Path = {
    val inStore = folder + path.substring(point.length)
    new Path(address.getScheme, address.getAuthority, if (inStore.isEmpty) "/" else inStore)
  }

  def ours(path: Path): Path = {
    val inMount = point + path.toUri.getPath.substring(folder.length)
    new Path(Mount.Scheme, null, if (inMount.isEmpty) "/" else inMount)
  }
}

/** A store's status with its path as the run knows it. Local files find out about their owner only when asked. */
private class MountStatus(stored: FileStatus, path: Path)
    extends FileStatus(
      stored.getLen,
      stored.isDirectory,
      stored.getReplication,
      stored.getBlockSize,
      stored.getModificationTime,
      stored.getAccessTime,
      null,
      null,
      null,
      path) {
  override def getPermission: FsPermission = stored.getPermission
  override def getOwner: String = stored.getOwner
  override def getGroup: String = stored.getGroup
}

/** The same for those who use FileContext, such as the checkpoints of streams. */
class MountFs(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(Mount.Root, new MountFileSystem, conf, Mount.Scheme, false)
