# Images of Spark nodes; docs/clouds/images.md says how they are made. Debian 12, except at Oracle Cloud, which has none: base_image
# of its variables names an image of Ubuntu there.
packer {
  required_plugins {
    amazon        = { source = "github.com/hashicorp/amazon", version = "~> 1" }
    azure         = { source = "github.com/hashicorp/azure", version = "~> 2" }
    googlecompute = { source = "github.com/hashicorp/googlecompute", version = "~> 1" }
    oracle        = { source = "github.com/hashicorp/oracle", version = "~> 1" }
    proxmox       = { source = "github.com/hashicorp/proxmox", version = "~> 1" }
  }
}

locals {
  image = "${var.name}-${formatdate("YYYYMMDD-hhmmss", timestamp())}"
  fitting = [
    for item in jsondecode(file(var.manifest)).items : item
    if contains([var.architecture, "any"], try(item.architecture, "any"))
    && (try(item.spark_version, "") == "" || length(var.spark_versions) == 0 || contains(var.spark_versions, try(item.spark_version, "")))
  ]
  # As the boot script names them: what depends on the version of Spark has it in its name.
  items = join("\n", [
    for item in local.fitting :
    "${join("-", compact([item.name, try(item.spark_version, "")]))} ${item.version} ${item.path} ${item.sha256}"
  ])
}

source "amazon-ebs" "node" {
  region        = var.aws.region
  instance_type = var.aws.instance_type
  ami_name      = local.image
  ssh_username  = "admin"
  imds_support  = "v2.0"
  source_ami_filter {
    owners      = ["136693071363"]
    most_recent = true
    filters     = { name = "debian-12-${var.architecture == "aarch64" ? "arm64" : "amd64"}-*" }
  }
  metadata_options {
    http_tokens = "required"
  }
}

source "googlecompute" "node" {
  project_id              = var.google.project
  zone                    = var.google.zone
  machine_type            = var.google.machine_type
  source_image_family     = var.architecture == "aarch64" ? "debian-12-arm64" : "debian-12"
  source_image_project_id = ["debian-cloud"]
  image_name              = local.image
  image_family            = var.name
  ssh_username            = "packer"
}

source "azure-arm" "node" {
  use_azure_cli_auth                = true
  location                          = var.azure.location
  vm_size                           = var.azure.vm_size
  os_type                           = "Linux"
  image_publisher                   = "Debian"
  image_offer                       = "debian-12"
  image_sku                         = var.architecture == "aarch64" ? "12-arm64" : "12-gen2"
  managed_image_name                = local.image
  managed_image_resource_group_name = var.azure.resource_group
}

source "oracle-oci" "node" {
  compartment_ocid    = var.oci.compartment
  availability_domain = var.oci.availability_domain
  subnet_ocid         = var.oci.subnet
  base_image_ocid     = var.oci.base_image
  shape               = var.oci.shape
  image_name          = local.image
  ssh_username        = "ubuntu"
  shape_config {
    ocpus         = 2
    memory_in_gbs = 8
  }
}

source "proxmox-clone" "node" {
  proxmox_url          = var.proxmox.url
  node                 = var.proxmox.node
  clone_vm             = var.proxmox.template
  template_name        = local.image
  template_description = "Spark node"
  ssh_username         = "debian"
  # The agent of the guest tells the address; cloud-init gives the clones theirs.
  qemu_agent      = true
  cloud_init      = true
  scsi_controller = "virtio-scsi-pci"
}

build {
  sources = [
    "source.amazon-ebs.node",
    "source.googlecompute.node",
    "source.azure-arm.node",
    "source.oracle-oci.node",
    "source.proxmox-clone.node",
  ]

  provisioner "file" {
    source      = "${path.root}/../libs/compute-drivers/boot/install.sh"
    destination = "/tmp/install.sh"
  }

  provisioner "file" {
    source      = "${path.root}/provision.sh"
    destination = "/tmp/provision.sh"
  }

  provisioner "file" {
    content     = "${local.items}\n"
    destination = "/tmp/items"
  }

  provisioner "shell" {
    inline = ["sudo MIRROR='${var.mirror}' ITEMS=/tmp/items sh /tmp/provision.sh"]
  }

  # Azure's agent would keep the user of this machine.
  provisioner "shell" {
    only   = ["azure-arm.node"]
    inline = ["sudo waagent -force -deprovision+user && sync"]
  }
}
