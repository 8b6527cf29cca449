variable "mirror" {
  type        = string
  description = "Base URL of the archives, RUNTIME_MIRROR of the workers."
}

variable "manifest" {
  type        = string
  description = "File that lists them, RUNTIME_MANIFEST of the workers."
}

variable "architecture" {
  type    = string
  default = "x86_64"
}

variable "spark_versions" {
  type        = list(string)
  default     = []
  description = "Versions of Spark that the image has; all of the manifest if empty."
}

variable "name" {
  type    = string
  default = "spark-node"
}

variable "aws" {
  type    = object({ region = string, instance_type = string })
  default = { region = "eu-west-1", instance_type = "m7i.large" }
}

variable "google" {
  type    = object({ project = string, zone = string, machine_type = string })
  default = { project = "", zone = "europe-west1-b", machine_type = "e2-standard-2" }
}

variable "azure" {
  type    = object({ resource_group = string, location = string, vm_size = string })
  default = { resource_group = "", location = "westeurope", vm_size = "Standard_D2s_v5" }
}

variable "oci" {
  type = object({
    compartment         = string
    availability_domain = string
    subnet              = string
    base_image          = string
    shape               = string
  })
  default = { compartment = "", availability_domain = "", subnet = "", base_image = "", shape = "VM.Standard.E5.Flex" }
}

variable "proxmox" {
  type    = object({ url = string, node = string, template = string })
  default = { url = "", node = "", template = "debian-12-cloudinit" }
}
